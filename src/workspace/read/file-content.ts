import { digestOf } from '../../host/file-version.ts';
import type { Result } from '../../kernel/result.ts';
import type { KnownContent } from '../../kernel/world/workspace.ts';
import { type DecodedText, decodeText } from './decode-text.ts';

/** The content of a file when it was read. Hashed and decoded once, when first asked for. */
export class FileContent implements KnownContent {
  /** Returns `known` where it has the same bytes. To compare costs a tenth of hashing. */
  static of(bytes: Buffer, known?: KnownContent): FileContent {
    return known instanceof FileContent && known.bytes.equals(bytes) ? known : new FileContent(bytes);
  }

  readonly bytes: Buffer;
  #digest: string | undefined;
  #decoded: Result<DecodedText | null> | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get digest(): string {
    this.#digest ??= digestOf(this.bytes);
    return this.#digest;
  }

  /** Null when it is not text. A failure when it is text that cannot be read without loss. */
  get decoded(): Result<DecodedText | null> {
    this.#decoded ??= decodeText(this.bytes);
    return this.#decoded;
  }

  get text(): DecodedText | null {
    const { decoded } = this;
    return decoded.ok ? decoded.value : null;
  }
}

const MAX_FILES = 10_000;
const MAX_TEXT_CHARS = 8 * 1024 * 1024;

/**
 * Which version of a file a session knows: what it read last, or wrote itself. Keeps the latest texts too, so that a
 * session whose version is stale can be told what changed. Forgets the oldest of both.
 */
export class SeenVersions {
  readonly #versions = new Map<string, string>();
  readonly #written = new Map<string, string>();
  readonly #texts = new Map<string, string>();
  #textSize = 0;

  remember(session: string, path: string, version: string, text: string | null = null): void {
    const key = keyOf(session, path);
    this.#versions.delete(key);
    this.#versions.set(key, version);
    if (this.#versions.size > MAX_FILES) this.#versions.delete(first(this.#versions));
    if (text !== null && text.length < MAX_TEXT_CHARS / 8) this.#keep(version, text);
  }

  forget(session: string, path: string): void {
    this.#versions.delete(keyOf(session, path));
  }

  version(session: string, path: string): string | undefined {
    return this.#versions.get(keyOf(session, path));
  }

  /** Notes a version that the session wrote itself. */
  noteWritten(session: string, path: string, version: string): void {
    const key = keyOf(session, path);
    this.#written.delete(key);
    this.#written.set(key, version);
    if (this.#written.size > MAX_FILES) this.#written.delete(first(this.#written));
  }

  wrote(session: string, path: string, version: string): boolean {
    return this.#written.get(keyOf(session, path)) === version;
  }

  textOf(version: string): string | undefined {
    return this.#texts.get(version);
  }

  #keep(version: string, text: string): void {
    if (this.#texts.has(version)) return;
    this.#texts.set(version, text);
    this.#textSize += text.length;
    while (this.#textSize > MAX_TEXT_CHARS) {
      const oldest = first(this.#texts);
      this.#textSize -= this.#texts.get(oldest)?.length ?? 0;
      this.#texts.delete(oldest);
    }
  }
}

function keyOf(session: string, path: string): string {
  return `${session}\0${path}`;
}

function first(map: ReadonlyMap<string, string>): string {
  for (const key of map.keys()) return key;
  return '';
}
