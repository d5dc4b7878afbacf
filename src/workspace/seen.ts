const MOST_FILES = 10_000;
const MOST_TEXT = 8 * 1024 * 1024;

/**
 * Which version of a file a session knows: what it read last, or wrote itself. Keeps the latest texts too, so that a
 * session whose version is stale can be told what changed. Forgets the oldest of both.
 */
export class Seen {
  readonly #versions = new Map<string, string>();
  readonly #texts = new Map<string, string>();
  #textSize = 0;

  remember(session: string, path: string, version: string, text: string | null = null): void {
    const key = keyOf(session, path);
    this.#versions.delete(key);
    this.#versions.set(key, version);
    if (this.#versions.size > MOST_FILES) this.#versions.delete(first(this.#versions));
    if (text !== null && text.length < MOST_TEXT / 8) this.#keep(version, text);
  }

  forget(session: string, path: string): void {
    this.#versions.delete(keyOf(session, path));
  }

  version(session: string, path: string): string | undefined {
    return this.#versions.get(keyOf(session, path));
  }

  textOf(version: string): string | undefined {
    return this.#texts.get(version);
  }

  #keep(version: string, text: string): void {
    if (this.#texts.has(version)) return;
    this.#texts.set(version, text);
    this.#textSize += text.length;
    while (this.#textSize > MOST_TEXT) {
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
