/** A function by its place in the text of its file. */
export interface FunctionSpan {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly ran: boolean;
}

/**
 * The lines that belong to functions that ran. A line belongs to the innermost function around each of its characters, so
 * a function that ran lends nothing to one inside it that did not, and no line counts twice.
 */
export function countLines(text: string, functions: readonly FunctionSpan[]): number {
  const outerFirst = [...functions].sort((one, other) => one.start - other.start || other.end - one.end);
  const isRun = new Uint8Array(text.length);
  for (const { start, end, ran } of outerFirst) isRun.fill(ran ? 1 : 0, start, end);
  let [lines, at] = [0, 0];
  for (const line of text.split('\n')) {
    const from = at;
    if ([...line.matchAll(/\S/g)].some(({ index }) => isRun[from + index] === 1)) lines += 1;
    at += line.length + 1;
  }
  return lines;
}
