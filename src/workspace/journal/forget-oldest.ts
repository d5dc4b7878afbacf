export interface StoredItem {
  readonly name: string;
  readonly bytes: number;
  readonly atMs: number;
}

/** Forgets the oldest items while all of them take more than `maxBytes`. */
export function forgetOldest(kept: readonly StoredItem[], maxBytes: number, forget: (name: string) => void): void {
  let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { name, bytes } of kept.toSorted((a, b) => a.atMs - b.atMs)) {
    if (total <= maxBytes) return;
    forget(name);
    total -= bytes;
  }
}
