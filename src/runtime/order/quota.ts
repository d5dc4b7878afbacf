/** Limits concurrent work in total (`max`) and for each owner (`share`). */
export class Quota {
  readonly #max: number;
  readonly #share: number;
  readonly #taken = new Map<string, number>();
  #size = 0;

  constructor({ max, share }: { max: number; share: number }) {
    this.#max = max;
    this.#share = share;
  }

  /** Returns null when the owner got a slot, to be given back with `release`; otherwise which limit was reached. */
  take(owner: string): 'all' | 'own' | null {
    const own = this.#taken.get(owner) ?? 0;
    if (this.#size >= this.#max) return 'all';
    if (own >= this.#share) return 'own';
    this.#size++;
    this.#taken.set(owner, own + 1);
    return null;
  }

  release(owner: string): void {
    const own = this.#taken.get(owner);
    if (own === undefined) return;
    this.#size--;
    if (own === 1) this.#taken.delete(owner);
    else this.#taken.set(owner, own - 1);
  }
}
