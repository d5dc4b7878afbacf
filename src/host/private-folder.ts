import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { failpoint } from '../kernel/failpoint.ts';
import { errnoOf } from './errno.ts';

/** Makes a folder for its owner alone, and those above it. Returns the outermost one that it made. */
export function makePrivateFolder(path: string): string | undefined {
  return mkdirSync(path, { recursive: true, mode: 0o700 });
}

/**
 * Makes a private folder that is still there after a power cut: each new folder is synced into the one above it. So is
 * a folder that was there already, since the process that made it may not have come to that.
 */
export function makeDurableFolder(path: string): void {
  const whole = resolve(path);
  const made = makePrivateFolder(whole);
  const highest = made === undefined ? whole : resolve(made);
  for (let folder = whole; ; folder = dirname(folder)) {
    syncFolder(dirname(folder));
    if (folder === highest || folder === dirname(folder)) return;
  }
}

function syncFolder(path: string): void {
  let opened: number;
  try {
    opened = openSync(path, 'r');
  } catch (error) {
    // A folder above ours that may be searched but not read is the business of its owner.
    if (errnoOf(error) === 'EACCES') return;
    throw error;
  }
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  failpoint('folder.after_sync');
}
