import { z } from 'zod';
import { oneLine } from '../text/visible.ts';

export const pathGroup = z.object({
  path: z.string(),
  entries: z.int().optional().describe('It is a folder that went with so many entries'),
  inside: z
    .int()
    .optional()
    .describe('It is a folder that stands for so many paths below it; the folder itself may stay'),
});

/** A path, or a folder that stands for several. */
export type PathGroup = z.infer<typeof pathGroup>;

/**
 * At most `max` groups that stand for all the paths: as many as possible by their own names, and folders for the rest. Nothing is
 * left out, however many there are.
 */
export function groupPaths(paths: readonly PathGroup[], max: number): PathGroup[] {
  if (paths.length <= max) return [...paths];
  const shown = new Set<GroupNode>([toTree(paths)]);
  for (;;) {
    const next = fewestChildren(shown);
    if (next === undefined || shown.size - 1 + next.children.length > max) break;
    shown.delete(next);
    for (const child of next.children) shown.add(child);
  }
  const groups = [...shown].map(({ path, count, own }) => own ?? { path, inside: count });
  return groups.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The groups in one line, with names that cannot pass for something else: `a.txt, src/ (12 entries), 30 paths in lib/`. */
export function describeGroups(groups: readonly PathGroup[]): string {
  return groups
    .map(({ path, entries, inside }) => {
      const name = oneLine(path);
      if (inside !== undefined) return `${inside} ${inside === 1 ? 'path' : 'paths'} in ${name}/`;
      return entries === undefined ? name : `${name}/ (${entries === 1 ? '1 entry' : `${entries} entries`})`;
    })
    .join(', ');
}

/** A folder with all that is below it, or one of the paths. */
interface GroupNode {
  readonly path: string;
  readonly own: PathGroup | null;
  readonly children: GroupNode[];
  count: number;
}

function toTree(paths: readonly PathGroup[]): GroupNode {
  const top = folderNode('.');
  const folders = new Map([['.', top]]);
  for (const own of paths) {
    const { path, entries = 0, inside = 1 + entries } = own;
    let node: GroupNode = { path, own, children: [], count: inside };
    for (let at = path; at !== '.'; ) {
      at = parentOf(at);
      const known = folders.get(at);
      const folder = known ?? folderNode(at);
      folder.children.push(node);
      if (known !== undefined) {
        countUp(folders, at, inside);
        break;
      }
      folder.count = inside;
      folders.set(at, folder);
      node = folder;
    }
  }
  return top;
}

function countUp(folders: ReadonlyMap<string, GroupNode>, from: string, count: number): void {
  for (let at = from; ; at = parentOf(at)) {
    const folder = folders.get(at);
    if (folder !== undefined) folder.count += count;
    if (at === '.') return;
  }
}

function folderNode(path: string): GroupNode {
  return { path, own: null, children: [], count: 0 };
}

function fewestChildren(nodes: Iterable<GroupNode>): GroupNode | undefined {
  let fewest: GroupNode | undefined;
  for (const node of nodes) {
    if (node.own === null && node.children.length < (fewest?.children.length ?? Number.POSITIVE_INFINITY))
      fewest = node;
  }
  return fewest;
}

function parentOf(path: string): string {
  const end = path.lastIndexOf('/');
  return end === -1 ? '.' : path.slice(0, end);
}
