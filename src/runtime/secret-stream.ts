import type { SecretHider } from './hide-secrets.ts';

/** Hides what comes in pieces: an end that may be the beginning of a secret is told with the next piece, or at the end. */
export class SecretStream {
  readonly #hider: SecretHider;
  #held = '';

  constructor(hider: SecretHider) {
    this.#hider = hider;
  }

  /** What can be told now. */
  add(text: string): string {
    const all = this.#held + text;
    const length = this.#hider.certain(all);
    this.#held = all.slice(length);
    return this.#hider.hide(all.slice(0, length));
  }

  /** What was held back, when nothing more comes. */
  rest(): string {
    const rest = this.#hider.hide(this.#held);
    this.#held = '';
    return rest;
  }
}
