const MOST_NODES = 2000;

/** About how many characters a value holds; beyond some thousand parts it is an estimate from those seen. */
export function roughSize(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let nodes = 0;
  return measure(value);

  function measure(part: unknown): number {
    if (typeof part === 'string') return part.length;
    if (typeof part !== 'object' || part === null || ++nodes > MOST_NODES) return 8;
    let size = 16;
    for (const inner of Object.values(part)) {
      size += 8 + measure(inner);
      if (nodes > MOST_NODES) break;
    }
    return size;
  }
}
