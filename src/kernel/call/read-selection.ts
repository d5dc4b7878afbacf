import { oneLine } from '../text/visible.ts';
import type { ChangesSelection } from '../tool/kept-changes.ts';
import type { ChangeItem, PreviewBlock } from './approval.ts';

export type ChangesBlock = Extract<PreviewBlock, { kind: 'changes' }>;

/** A selection as a person typed it, or the first part of it that is not among the changes. */
export type ReadSelection =
  | { readonly selection: ChangesSelection }
  | { readonly unknown: string }
  | { readonly path: string; readonly hunks: number };

/** Reads `a.ts "my \"file\".txt" src/b.ts:1,3`: paths or folders to keep, with the numbers of their hunks. */
export function readSelection(line: string, { items, truncated }: ChangesBlock): ReadSelection {
  const paths: string[] = [];
  const hunks: Record<string, number[]> = {};
  const known = items.map(({ path }) => path);
  for (const [, quoted, plain] of line.matchAll(/"((?:\\"|[^"])+)"|(\S+)/g)) {
    const typed = (quoted?.replaceAll('\\"', '"') ?? plain ?? '').replace(/(?<=.)\/$/, '');
    const [, named = typed, numbers] = /^(.+):(\d+(?:,\d+)*)$/.exec(typed) ?? [];
    const whole = exactPath(typed, known);
    const path = whole ?? exactPath(named, known) ?? named;
    // Of a list that was cut, only the stage knows every path.
    if (!truncated && !items.some((item) => isTouched(item, path))) return { unknown: path };
    paths.push(path);
    if (whole !== undefined || numbers === undefined) continue;
    const chosen = numbers.split(',').map(Number);
    const item = items.find((each) => each.path === path);
    const count = item === undefined ? 0 : hunkCount(item);
    if (chosen.some((number) => number < 1 || number > count)) return { path, hunks: count };
    hunks[path] = chosen;
  }
  return { selection: { paths, ...(Object.keys(hunks).length > 0 && { hunks }) } };
}

/**
 * The path or folder that a person means by what they typed: exactly that, or the only one that is shown like that, such as one
 * with a line break that is shown as `\n`.
 */
export function exactPath(typed: string, paths: readonly string[]): string | undefined {
  if (paths.some((path) => path === typed || path.startsWith(`${typed}/`))) return typed;
  if (!typed.includes('\\')) return undefined;
  const depth = typed.split('/').length;
  const meant = new Set(paths.map((path) => path.split('/').slice(0, depth).join('/')));
  const [only, ...others] = [...meant].filter((path) => oneLine(path) === typed);
  return others.length === 0 ? only : undefined;
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
