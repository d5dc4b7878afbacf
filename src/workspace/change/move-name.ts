import { accessSync, constants, linkSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import type { Folder } from '../../host/folder.ts';
import { discardTree } from '../../host/visit-tree.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { copyTree, syncFolder } from './copy-tree.ts';

interface Target {
  readonly name: string;
  /** Free in both folders. */
  readonly temp: string;
  readonly replace: boolean;
}

/** Never replaces what appeared meanwhile, unless told to. Throws what the system throws; then nothing has moved. */
export function moveName(from: Folder, name: string, to: Folder, target: Target): void {
  try {
    if (target.replace) renameSync(from.at(name), to.at(target.name));
    else renameToFree(from, name, to, target.name);
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EXDEV') throw thrown;
    moveByCopy(from, name, to, target);
  }
}

/** To another file system. The copy is whole before it has its name, and on the disk before what was copied goes. */
function moveByCopy(from: Folder, name: string, to: Folder, { name: newName, temp, replace }: Target): void {
  // Checked first: a file that cannot be removed is not worth a copy.
  accessSync(from.at(''), constants.W_OK);
  try {
    copyTree(from, name, to, { name: temp });
    if (replace) renameSync(to.at(temp), to.at(newName));
    else renameToFree(to, temp, to, newName);
  } catch (thrown) {
    discardTree(to, temp);
    throw thrown;
  }
  try {
    syncFolder(to);
    removeTree(from, name, temp);
  } catch (thrown) {
    // The replaced file is gone: the same file twice is better than a failure that says nothing happened.
    if (replace && errnoOf(thrown) !== undefined) return;
    discardTree(to, newName);
    throw thrown;
  }
}

/**
 * Removes a name with all below it. Renamed first, so that it goes at once; the kernel cannot rename a folder of a lower layer
 * of an overlay, and that one goes entry by entry.
 */
export function removeTree(folder: Folder, name: string, temp: string): void {
  try {
    renameSync(folder.at(name), folder.at(temp));
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EXDEV') throw thrown;
    discardTree(folder, name);
    return;
  }
  // It is deleted by now, whatever is left of it under this name.
  discardTree(folder, temp);
}

/** Moves to a free name on the same file system. A rename would replace silently. A second name fails if the first is taken; for a folder, an empty one holds the place. */
export function renameToFree(from: Folder, name: string, to: Folder, newName: string): void {
  if (from.stat(name)?.isDirectory()) {
    mkdirSync(to.at(newName));
    try {
      failpoint('workspace.place-held');
      renameFolder(from, name, to.at(newName));
    } catch (thrown) {
      rmdirSync(to.at(newName));
      throw thrown;
    }
    return;
  }
  if (!gaveSecondName(from, name, to, newName)) {
    if (to.stat(newName) !== null) throw Object.assign(new Error('exists'), { code: 'EEXIST' });
    renameSync(from.at(name), to.at(newName));
    return;
  }
  try {
    unlinkSync(from.at(name));
  } catch (thrown) {
    unlinkSync(to.at(newName));
    throw thrown;
  }
}

/** Renames a name. A folder may be moved to another one only while it is writable, so one that is not gets that right meanwhile. */
export function renameFolder(from: Folder, name: string, target: string): void {
  try {
    renameSync(from.at(name), target);
  } catch (thrown) {
    const stat = from.stat(name);
    if (errnoOf(thrown) !== 'EACCES' || !stat?.isDirectory() || (stat.mode & 0o200) !== 0) throw thrown;
    const child = from.openChild(name);
    try {
      child.setMode(stat.mode | 0o200);
      renameSync(from.at(name), target);
    } finally {
      child.setMode(stat.mode);
      child.close();
    }
  }
}

/** False where a file cannot have two. */
function gaveSecondName(from: Folder, name: string, to: Folder, newName: string): boolean {
  try {
    linkSync(from.at(name), to.at(newName));
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EPERM' && errnoOf(thrown) !== 'ENOTSUP') throw thrown;
    return false;
  }
}
