/** A number of places, of which nobody gets more than their share. */
export class FairPlaces {
  readonly #most: number;
  readonly #share: number;
  readonly #taken = new Map<string, number>();
  #size = 0;

  constructor({ most, share }: { most: number; share: number }) {
    this.#most = most;
    this.#share = share;
  }

  /** What there is none left of: of all, or of their own. Null when a place is theirs, until they `leave` it. */
  take(owner: string): 'all' | 'own' | null {
    const own = this.#taken.get(owner) ?? 0;
    if (this.#size >= this.#most) return 'all';
    if (own >= this.#share) return 'own';
    this.#size++;
    this.#taken.set(owner, own + 1);
    return null;
  }

  leave(owner: string): void {
    const own = this.#taken.get(owner);
    if (own === undefined) return;
    this.#size--;
    if (own === 1) this.#taken.delete(owner);
    else this.#taken.set(owner, own - 1);
  }
}
