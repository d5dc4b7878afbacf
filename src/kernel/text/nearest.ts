/** Returns the names closest to a misspelt one, best first, without those too different to be meant. */
export function nearest(name: string, candidates: readonly string[], most = 3): string[] {
  const wanted = plain(name);
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  return candidates
    .map((candidate) => ({ candidate, distance: distance(wanted, plain(candidate)) }))
    .filter(({ candidate, distance }) => distance <= limit || (wanted.length > 2 && plain(candidate).includes(wanted)))
    .sort((a, b) => a.distance - b.distance || a.candidate.localeCompare(b.candidate, 'en'))
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** Treats `readFile`, `read-file` and `read_file` as one name. Bounded: names are short. */
function plain(name: string): string {
  return name
    .slice(0, 64)
    .replace(/[-_\s]/g, '')
    .toLowerCase();
}

/** Levenshtein, one row at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
