import { chmodSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, sqliteDriver } from './driver.ts';

export type Driver = Awaited<ReturnType<typeof sqliteDriver>>;

const BUSY = 5;
const AGAIN_MS = 20;

/**
 * The lock on a file that holds nothing, until it is closed or its process dies, however it dies; undefined when somebody
 * has it. It is SQLite's own: Node cannot lock files itself, and unlike an inherited handle it does not live on in
 * children. Never open such a file any other way: closing it would drop this process's lock.
 */
export function tryLock(driver: Driver, path: string): Database | undefined {
  const lock = new driver.DatabaseSync(path, { timeout: 0 });
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

/** The same, waiting for whoever has it; undefined when they kept it for so long. */
export async function waitForLock(path: string, timeoutMs: number): Promise<Database | undefined> {
  const driver = await sqliteDriver();
  const end = performance.now() + timeoutMs;
  for (;;) {
    const lock = tryLock(driver, path);
    if (lock !== undefined || performance.now() > end) return lock;
    await delay(AGAIN_MS);
  }
}
