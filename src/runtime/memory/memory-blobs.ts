import { createHash } from 'node:crypto';
import type { BlobStore } from '../../kernel/ports.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';

/** Blobs that live with the process; the oldest are forgotten when all together pass `maxBytes`. */
export class MemoryBlobs implements BlobStore {
  readonly #maxBytes: number;
  readonly #blobs = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor({ maxBytes = 64 * 1024 * 1024 }: { maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes;
  }

  put(bytes: Uint8Array): string {
    const handle = createHash('sha256').update(bytes).digest('hex');
    if (!this.#blobs.has(handle)) {
      // Not `slice`: that of a Buffer shares its memory.
      this.#blobs.set(handle, new Uint8Array(bytes));
      this.#bytes += bytes.byteLength;
    }
    for (const [oldest, blob] of this.#blobs) {
      if (this.#bytes <= this.#maxBytes || oldest === handle) break;
      this.#blobs.delete(oldest);
      this.#bytes -= blob.byteLength;
    }
    return handle;
  }

  get(handle: string): Result<Uint8Array> {
    const blob = this.#blobs.get(handle);
    if (blob !== undefined) return ok(blob.slice());
    return fail(
      'FILE_NOT_FOUND',
      `There is no artifact ${handle}: it was never kept, or it was forgotten since. Run the call again.`,
    );
  }
}
