import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FileRule } from '../kernel/file-policy.ts';
import { withLock } from './file-lock.ts';
import { statOf } from './inside.ts';

/** Names in the workspace root that nobody may create from inside. */
export function blockedNames(rules: readonly FileRule[]): string[] {
  return rules
    .filter(({ access, missing, pattern }) => access === 'read-only' && missing === 'block' && !/[*?]/.test(pattern))
    .map(({ pattern }) => pattern.replace(/^\//, ''))
    .filter((name) => !name.includes('/'));
}

export interface Placeholders {
  /**
   * Puts an empty folder where a blocked name is missing, so that a mount has something to lie on. Written down in
   * `recordFolder` first, for whoever tidies up after us and for other processes that use the same.
   */
  acquire(
    workspace: string,
    recordFolder: string,
  ): { readonly names: readonly string[] /** May be called again. */; release(): void };
}

const RECORD = 'placeholder-';
/** How the folder of each process begins. */
export const RUNTIME_PREFIX = 'toolwright-sandbox-';
/** Nobody makes an empty folder that its owner cannot write to; git does not see an empty folder at all. */
const MODE = 0o555;

/**
 * A mount needs something to be mounted on, and what is made for it is made on the host. Runs share it, also those of
 * other processes with the same state folder: the first creates it, the last removes it, since removing it would lift
 * the mount of whoever still runs. One that a killed process left behind is adopted, and removed with the rest.
 */
export function createPlaceholders(blocked: readonly string[]): Placeholders {
  const users = new Map<string, number>();

  function add(path: string, recordFolder: string): boolean {
    const used = users.get(path) ?? 0;
    const isThere = used > 0 ? isPlaceholder(path) : false;
    const make = () => create(path, recordFolder);
    // Without the lock it is made all the same: what goes wrong then is noticed, and a name that is free would not be.
    const isHeld = isThere || (locked(path, recordFolder, make) ?? make());
    if (isHeld) users.set(path, used + 1);
    return isHeld;
  }

  function drop(path: string, recordFolder: string): void {
    const left = (users.get(path) ?? 1) - 1;
    users.set(path, left);
    if (left > 0 || !users.delete(path)) return;
    locked(path, recordFolder, () => {
      rmSync(join(recordFolder, recordName(path)), { force: true });
      if (!isRecordedBeside(path, recordFolder)) remove(path);
    });
  }

  return {
    acquire(workspace, recordFolder) {
      const names = blocked.filter((name) => add(`${workspace}/${name}`, recordFolder));
      let paths = names.map((name) => `${workspace}/${name}`);
      return {
        names,
        release() {
          for (const path of paths) drop(path, recordFolder);
          paths = [];
        },
      };
    },
  };
}

/** False when there is something else, or nothing can be put there. */
function create(path: string, recordFolder: string): boolean {
  if (statOf(path) !== undefined && !isPlaceholder(path)) return false;
  const record = join(recordFolder, recordName(path));
  try {
    writeFileSync(record, JSON.stringify(path));
  } catch {
    // A full disk: then only a crash would leave it behind.
  }
  try {
    mkdirSync(path);
    chmodSync(path, MODE);
  } catch {
    // There is one already, or the workspace may not be written by us, and then neither from inside.
  }
  if (isPlaceholder(path)) return true;
  rmSync(record, { force: true });
  return false;
}

/** Removes what a process that was killed had written down in its folder, unless another one uses it. */
export function removeRecorded(recordFolder: string): void {
  for (const name of namesIn(recordFolder).filter((each) => each.startsWith(RECORD))) {
    const path = recordedPath(join(recordFolder, name));
    if (path === null) continue;
    locked(path, recordFolder, () => {
      rmSync(join(recordFolder, name), { force: true });
      if (!isRecordedBeside(path, recordFolder)) remove(path);
    });
  }
}

/**
 * One lock for each path, beside the folders of the processes. Whoever has no folder there yet is not about to use one
 * of these either, so where there is no other folder there is nobody to keep out.
 */
function locked<T>(path: string, recordFolder: string, use: () => T): T | undefined {
  const parent = dirname(recordFolder);
  const isAlone = namesIn(parent).every((name) => name === basename(recordFolder) || !name.startsWith(RUNTIME_PREFIX));
  if (isAlone) return use();
  return withLock(join(dirname(recordFolder), `.${recordName(path)}.lock`), use);
}

/** Whether another process has written it down: its folder goes when it does. */
function isRecordedBeside(path: string, recordFolder: string): boolean {
  const parent = dirname(recordFolder);
  return namesIn(parent).some((name) => statOf(join(parent, name, recordName(path))) !== undefined);
}

function recordName(path: string): string {
  return `${RECORD}${createHash('sha256').update(path).digest('hex').slice(0, 24)}`;
}

function recordedPath(record: string): string | null {
  try {
    const path: unknown = JSON.parse(readFileSync(record, 'utf8'));
    return typeof path === 'string' ? path : null;
  } catch {
    return null;
  }
}

/** An empty folder that nobody can write to: only we make those. */
export function isPlaceholder(path: string): boolean {
  const stat = statOf(path);
  return stat?.isDirectory() === true && (stat.mode & 0o777) === MODE && namesIn(path, 'something').length === 0;
}

function remove(path: string): void {
  try {
    if (isPlaceholder(path)) rmdirSync(path);
  } catch {
    // Somebody else removed it first.
  }
}

function namesIn(folder: string, ...otherwise: string[]): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return otherwise;
  }
}
