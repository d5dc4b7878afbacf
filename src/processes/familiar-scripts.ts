import { hash } from 'node:crypto';

const MOST = 1_000;

/** Script texts that a session has run before, by their hash. The oldest are forgotten. */
export class FamiliarScripts {
  readonly #known = new Set<string>();

  has(scope: string, text: string): boolean {
    return this.#known.has(keyOf(scope, text));
  }

  add(scope: string, text: string): void {
    this.#known.add(keyOf(scope, text));
    if (this.#known.size <= MOST) return;
    for (const oldest of this.#known) {
      this.#known.delete(oldest);
      return;
    }
  }
}

function keyOf(scope: string, text: string): string {
  return hash('sha256', `${scope}\0${text}`, 'base64');
}
