import { hash } from 'node:crypto';
import type { BlobStore } from '../../kernel/ports.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';

/** Keeps blobs in memory; drops the oldest when their total size exceeds `maxBytes`. */
export class MemoryBlobs implements BlobStore {
  readonly #maxBytes: number;
  readonly #blobs = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor({ maxBytes = 64 * 1024 * 1024 }: { maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes;
  }

  put(bytes: Uint8Array): string {
    const handle = hash('sha256', bytes, 'hex');
    if (!this.#blobs.has(handle)) {
      // Not `slice`: for a Buffer it shares the memory.
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
      `Artifact ${handle} not found: it was never stored, or was deleted since. Run the call again.`,
    );
  }
}
