const WRAPPED_AT = 80;

/** How many rows a text takes in a field that wraps it, about. */
export function rowsFor(text: string): number {
  return text.split('\n').reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / WRAPPED_AT)), 0);
}
