import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { freshName } from './files.ts';
import { isOwnerGone, OWNER_ID } from './owner.ts';

/** Others hold it for less than a millisecond; one that does not come free belongs to somebody who is stuck. */
const LONGEST_WAIT_MS = 200;

/**
 * Calls `use` while no other process holds the lock of this name. Undefined when it was not to be had, or its folder
 * cannot be written. Waits without giving other work a turn, so only for what is done at once.
 */
export function withLock<T>(lock: string, use: () => T): T | undefined {
  const own = `${lock}.${freshName('by')}`;
  try {
    // Linked into place, so that a lock always names its owner.
    writeFileSync(own, OWNER_ID);
    if (!take(own, lock)) return undefined;
  } catch {
    return undefined;
  } finally {
    rmSync(own, { force: true });
  }
  try {
    return use();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(own: string, lock: string): boolean {
  const end = performance.now() + LONGEST_WAIT_MS;
  while (!tryLink(own, lock)) {
    if (isOwnerGone(ownerOf(lock))) rmSync(lock, { force: true });
    else if (performance.now() > end) return false;
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
  return true;
}

function tryLink(own: string, lock: string): boolean {
  try {
    linkSync(own, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function ownerOf(lock: string): string {
  try {
    return readFileSync(lock, 'latin1');
  } catch {
    return '';
  }
}
