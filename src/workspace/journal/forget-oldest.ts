export interface Kept {
  readonly name: string;
  readonly bytes: number;
  readonly atMs: number;
}

/** Forgets what was kept longest, while all of it is more than it may be. */
export function forgetOldest(kept: readonly Kept[], maxBytes: number, forget: (name: string) => void): void {
  let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { name, bytes } of kept.toSorted((a, b) => a.atMs - b.atMs)) {
    if (total <= maxBytes) return;
    forget(name);
    total -= bytes;
  }
}
