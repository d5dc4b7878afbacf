const MOST = 20;
const WINDOW_MS = 60_000;
const MOST_ADDRESSES = 1000;

/** Counts wrong tokens by address. A right token always passes, so nobody can lock the owner out. */
export class FailedTries {
  readonly #tries = new Map<string, { count: number; since: number }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Seconds to wait, or 0 while there are few. */
  add(address: string): number {
    const now = this.#now();
    const known = this.#tries.get(address);
    const entry = known === undefined || now - known.since > WINDOW_MS ? { count: 0, since: now } : known;
    entry.count++;
    if (this.#tries.size >= MOST_ADDRESSES && known === undefined) this.#tries.clear();
    this.#tries.set(address, entry);
    return entry.count <= MOST ? 0 : Math.ceil((entry.since + WINDOW_MS - now) / 1000);
  }
}
