import type { Result } from '../kernel/result.ts';
import { type Decoded, decodeText } from './read/decode-text.ts';
import { digestOf } from './version.ts';

/** What a file held when it was read. Hashed and decoded when first asked for, and once. */
export class FileContent {
  readonly bytes: Buffer;
  #digest: string | undefined;
  #decoded: Result<Decoded | null> | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get digest(): string {
    this.#digest ??= digestOf(this.bytes);
    return this.#digest;
  }

  /** Null when it is not text. A failure when it is text that cannot be read without loss. */
  get decoded(): Result<Decoded | null> {
    this.#decoded ??= decodeText(this.bytes);
    return this.#decoded;
  }

  get text(): Decoded | null {
    const { decoded } = this;
    return decoded.ok ? decoded.value : null;
  }
}

/**
 * One call reads a file several times: to ask about it, to show what would change, and to change it. Each time the bytes
 * are read anew; if they are the same, what was found out of them is known. To compare costs a tenth of hashing.
 */
export class Contents {
  #last: FileContent | undefined;

  of(bytes: Buffer): FileContent {
    if (this.#last === undefined || !this.#last.bytes.equals(bytes)) this.#last = new FileContent(bytes);
    return this.#last;
  }
}
