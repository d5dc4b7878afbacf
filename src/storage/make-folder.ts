import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { failpoint } from '../kernel/failpoint.ts';

/**
 * A folder for its owner alone that is still there after a power cut: a new one is synced into the one above it, and so
 * is one that was there already, as whoever made it may not have come to that.
 */
export function makeFolder(path: string): void {
  const whole = resolve(path);
  const made = mkdirSync(whole, { recursive: true, mode: 0o700 });
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
    // A folder above ours that may be passed and not be read: whoever made it answers for it.
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return;
    throw error;
  }
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  failpoint('folder.after_sync');
}
