import { type Dirent, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { isWalked } from '../kernel/file-policy.ts';
import type { Entry } from '../kernel/world/workspace.ts';
import { errnoOf } from './errno.ts';
import type { Folder } from '../workspace/folder.ts';

export interface TreeEntry {
  readonly folder: Folder;
  readonly name: string;
  readonly type: Entry['type'];
}

/** Let other work run after so long. */
const SLICE_MS = 8;

/**
 * Every entry below a folder, in the order of names, a folder before what is in it. Links are told, never followed.
 * `visit` says whether to enter a folder, pass it, or stop altogether. Folders that vanish or may not be read are passed.
 */
export async function visitTree(
  top: Folder,
  visit: (entry: TreeEntry) => 'enter' | 'pass' | 'stop',
  { everything = false } = {},
): Promise<void> {
  let sliceStart = performance.now();

  async function inside(folder: Folder): Promise<boolean> {
    for (const entry of entriesOf(folder)) {
      const type = typeOf(entry);
      const answer = visit({ folder, name: entry.name, type });
      if (answer === 'stop') return false;
      if (type === 'directory' && answer === 'enter' && (everything || isWalked(folder.pathOf(entry.name)))) {
        if (!(await enter(folder, entry.name))) return false;
      }
      if (performance.now() - sliceStart > SLICE_MS) {
        await new Promise((resolve) => setImmediate(resolve));
        sliceStart = performance.now();
      }
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
 * Removes a name and everything below it, also below read-only folders. Links go, their targets stay. For what nobody
 * needs any more: what the system does not let go stays, and nothing fails because of it.
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

/** Somebody else's folder cannot be; an empty one can be removed all the same. */
function openUp(folder: Folder, mode: number): void {
  try {
    folder.setMode((mode & 0o7777) | 0o700);
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
  }
}

export function typeOf(entry: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): Entry['type'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}

function entriesOf(folder: Folder): Dirent[] {
  try {
    return readdirSync(folder.at(''), { withFileTypes: true }).sort(byName);
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return [];
  }
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
