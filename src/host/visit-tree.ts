import { readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { isWalked } from '../kernel/world/file-policy.ts';
import type { ListedEntry } from '../kernel/world/workspace.ts';
import { createYielder } from '../kernel/yielding.ts';
import { errnoOf } from './errno.ts';
import { entriesIn } from './files.ts';
import type { Folder } from './folder.ts';

export interface TreeEntry {
  readonly folder: Folder;
  readonly name: string;
  readonly type: ListedEntry['type'];
}

/**
 * Visits every entry below a folder in the order of names, a folder before its entries. Symlinks are visited, never
 * followed. `visit` says whether to enter a folder, pass it, or stop. Folders that vanish or cannot be read are passed.
 */
export async function visitTree(
  top: Folder,
  visit: (entry: TreeEntry) => 'enter' | 'pass' | 'stop',
  { everything = false } = {},
): Promise<void> {
  const yielder = createYielder();

  async function inside(folder: Folder): Promise<boolean> {
    for (const entry of entriesIn(folder.at('')).sort(byName)) {
      const type = typeOf(entry);
      const answer = visit({ folder, name: entry.name, type });
      if (answer === 'stop') return false;
      if (type === 'directory' && answer === 'enter' && (everything || isWalked(folder.pathOf(entry.name)))) {
        if (!(await enter(folder, entry.name))) return false;
      }
      if (yielder.isDue()) await yielder.pause();
    }
    return true;
  }

  async function enter(folder: Folder, name: string): Promise<boolean> {
    const child = openOrNull(folder, name);
    if (child === null) return true;
    try {
      return await inside(child);
    } finally {
      child.close();
    }
  }

  await inside(top);
}

/**
 * Removes a name and everything below it, also below read-only folders. Symlinks are removed, their targets stay. For
 * files that are not needed any more: a file that cannot be removed stays, and nothing fails because of it.
 */
export function discardTree(folder: Folder, name: string): void {
  try {
    const stat = folder.stat(name);
    if (stat?.isDirectory()) discardBelow(folder, name, stat.mode);
    if (stat?.isDirectory()) rmdirSync(folder.at(name));
    else if (stat !== null) unlinkSync(folder.at(name));
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
  }
}

function discardBelow(folder: Folder, name: string, mode: number): void {
  const child = folder.openChild(name);
  try {
    if ((mode & 0o700) !== 0o700) openUp(child, mode);
    for (const entry of readdirSync(child.at(''))) discardTree(child, entry);
  } finally {
    child.close();
  }
}

/** The mode of another user's folder cannot be changed; if it is empty, it can be removed all the same. */
function openUp(folder: Folder, mode: number): void {
  try {
    folder.setMode((mode & 0o7777) | 0o700);
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
  }
}

export function typeOf(entry: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}): ListedEntry['type'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function openOrNull(folder: Folder, name: string): Folder | null {
  try {
    return folder.openChild(name);
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return null;
  }
}
