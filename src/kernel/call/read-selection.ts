import type { ChangesSelection } from '../tool/kept-changes.ts';
import type { ChangeItem, PreviewBlock } from './approval.ts';

export type ChangesBlock = Extract<PreviewBlock, { kind: 'changes' }>;

/** A selection as a person typed it, or the first part of it that is not among the changes. */
export type ReadSelection =
  | { readonly selection: ChangesSelection }
  | { readonly unknown: string }
  | { readonly path: string; readonly hunks: number };

/** Reads `a.ts "my file.txt" src/b.ts:1,3`: paths or folders to keep, with the numbers of their hunks. */
export function readSelection(line: string, { items, truncated }: ChangesBlock): ReadSelection {
  const paths: string[] = [];
  const hunks: Record<string, number[]> = {};
  for (const [, quoted, plain] of line.matchAll(/"([^"]+)"|(\S+)/g)) {
    const typed = (quoted ?? plain ?? '').replace(/(?<=.)\/$/, '');
    const [, named = typed, numbers] = /^(.+):(\d+(?:,\d+)*)$/.exec(typed) ?? [];
    const path = items.some((item) => item.path === typed) ? typed : named;
    // Of a list that was cut, only the stage knows every path.
    if (!truncated && !items.some((item) => isTouched(item, path))) return { unknown: path };
    paths.push(path);
    if (path === typed || numbers === undefined) continue;
    const chosen = numbers.split(',').map(Number);
    const item = items.find((each) => each.path === path);
    const count = item === undefined ? 0 : hunkCount(item);
    if (chosen.some((number) => number < 1 || number > count)) return { path, hunks: count };
    hunks[path] = chosen;
  }
  return { selection: { paths, ...(Object.keys(hunks).length > 0 && { hunks }) } };
}

function hunkCount({ diff = '' }: ChangeItem): number {
  return diff.split('\n').filter((line) => line.startsWith('@@ ')).length;
}

/** The path itself, a folder above it, or something in a folder that counts as one item. */
function isTouched(item: ChangeItem, path: string): boolean {
  return (
    item.path === path ||
    item.path.startsWith(`${path}/`) ||
    (item.entries !== undefined && path.startsWith(`${item.path}/`))
  );
}
