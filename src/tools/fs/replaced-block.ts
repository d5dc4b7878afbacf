/**
 * The hunk of a change in which one block of lines takes the place of another, and no line of the old block stands in the
 * new one: there is nothing to align then, and this costs a hundredth of comparing. Undefined for any other change.
 */
export function replacedBlock(before: string, after: string, context: number): string[] | undefined {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, fresh.length);
  let above = 0;
  while (above < shorter && old[above] === fresh[above]) above++;
  let below = 0;
  while (below < shorter - above && old.at(-1 - below) === fresh.at(-1 - below)) below++;
  const removed = old.slice(above, old.length - below);
  const added = fresh.slice(above, fresh.length - below);
  const kept = new Set(removed);
  if (added.some((line) => kept.has(line))) return undefined;

  const first = Math.max(0, above - context);
  const last = Math.min(below, context);
  const same = above - first + last;
  return [
    `@@ -${range(first, removed.length + same)} +${range(first, added.length + same)} @@`,
    ...old.slice(first, above).flatMap((line) => marked(' ', line)),
    ...removed.flatMap((line) => marked('-', line)),
    ...added.flatMap((line) => marked('+', line)),
    ...old.slice(old.length - below, old.length - below + last).flatMap((line) => marked(' ', line)),
  ];
}

/** With their line ends; the last one may have none. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

/** An empty range is told by the line before it. */
function range(first: number, length: number): string {
  return `${length === 0 ? first : first + 1},${length}`;
}

function marked(mark: string, line: string): string[] {
  return line.endsWith('\n') ? [mark + line.slice(0, -1)] : [mark + line, '\\ No newline at end of file'];
}
