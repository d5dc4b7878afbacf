import { chmodSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, openDatabase } from './driver.ts';

const BUSY = 5;
const AGAIN_MS = 20;

/**
 * Locks an empty file until the lock is closed or the process dies in any way; returns undefined when another process
 * has the lock. The lock is SQLite's: Node cannot lock files, and unlike an inherited descriptor it does not survive in
 * child processes. Never open such a file in another way: closing it would drop the lock of this process.
 */
export function tryLock(path: string): Database | undefined {
  const lock = openDatabase(path, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    chmodSync(path, 0o600);
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === BUSY) return undefined;
    throw error;
  }
}

/** Waits for the lock; returns undefined when another process kept it for the whole timeout. */
export async function waitForLock(path: string, timeoutMs: number): Promise<Database | undefined> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const lock = tryLock(path);
    if (lock !== undefined || performance.now() > end) return lock;
    await delay(AGAIN_MS);
  }
}
