import { namesOf } from '../../host/parse-path.ts';
import { visitTree } from '../../host/visit-tree.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';

const MAX_SUGGESTIONS = 5;
const TIME_MS = 300;
const MAX_CANDIDATES = 20_000;

/**
 * Paths that a missing one may have meant, from the whole tree: the same name elsewhere first, then similar names;
 * of one name those in the folder that was meant.
 */
export async function suggestPaths(root: WorkspaceRoot, path: string): Promise<readonly string[]> {
  const wanted = namesOf(path).pop() ?? '';
  const plain = wanted.toLowerCase();
  const same: string[] = [];
  const others = new Map<string, string[]>();
  const start = performance.now();
  let seen = 0;
  await visitTree(root.folder, ({ folder, name, type }) => {
    if (performance.now() - start > TIME_MS || ++seen > MAX_CANDIDATES * 10) return 'stop';
    if (name === '.git' || name === 'node_modules' || !root.refuses(folder.pathOf(name), type).ok) return 'pass';
    if (type === 'directory') return 'enter';
    if (name.toLowerCase() === plain) same.push(folder.pathOf(name));
    else if (couldBe(name, wanted) && others.size < MAX_CANDIDATES) {
      others.set(name, nearestFolders(path, [...(others.get(name) ?? []), folder.pathOf(name)]));
    }
    return 'pass';
  });
  const similar = nearest(wanted, [...others.keys()], MAX_SUGGESTIONS).flatMap((name) => others.get(name) ?? []);
  return [...nearestFolders(path, same), ...similar].slice(0, MAX_SUGGESTIONS);
}

function nearestFolders(path: string, candidates: readonly string[]): string[] {
  return [...candidates].sort((a, b) => distanceTo(path, a) - distanceTo(path, b)).slice(0, MAX_SUGGESTIONS);
}

/** Names of very different length are no slip, unless one holds the other; this spares most comparisons. */
function couldBe(name: string, wanted: string): boolean {
  return Math.abs(name.length - wanted.length) <= Math.max(3, wanted.length / 2) || name.includes(wanted);
}

/** How many folders of the path do not occur in the candidate. */
function distanceTo(path: string, candidate: string): number {
  const folders = new Set(namesOf(candidate));
  return namesOf(path).filter((name) => !folders.has(name)).length;
}
