import { appendFileSync, chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FileRule } from '../kernel/file-policy.ts';

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
   * `recordFolder` first, for whoever tidies up after us.
   */
  acquire(
    workspace: string,
    recordFolder: string,
  ): { readonly names: readonly string[] /** May be called again. */; release(): void };
}

const RECORD = 'placeholders';
/** Nobody makes an empty folder that its owner cannot write to; git does not see an empty folder at all. */
const MODE = 0o555;

/**
 * A mount needs something to be mounted on, and what is made for it is made on the host. Runs share it: the first
 * creates it, the last removes it. One that a killed process left behind is adopted, and removed with the rest.
 */
export function createPlaceholders(blocked: readonly string[]): Placeholders {
  const users = new Map<string, number>();
  const recorded = new Set<string>();

  function create(path: string, recordFolder: string): boolean {
    try {
      if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return isPlaceholder(path);
      if (!recorded.has(path)) appendFileSync(join(recordFolder, RECORD), `${JSON.stringify(path)}\n`);
      recorded.add(path);
      mkdirSync(path);
      chmodSync(path, MODE);
      return true;
    } catch {
      return isPlaceholder(path);
    }
  }

  return {
    acquire(workspace, recordFolder) {
      const names = blocked.filter((name) => create(`${workspace}/${name}`, recordFolder));
      let paths = names.map((name) => `${workspace}/${name}`);
      for (const path of paths) users.set(path, (users.get(path) ?? 0) + 1);
      return {
        names,
        release() {
          for (const path of paths) {
            const left = (users.get(path) ?? 1) - 1;
            if (left > 0) users.set(path, left);
            else if (users.delete(path)) remove(path);
          }
          paths = [];
        },
      };
    },
  };
}

/** Removes what a process that was killed had written down in its folder. */
export function removeRecorded(recordFolder: string): void {
  let record = '';
  try {
    record = readFileSync(join(recordFolder, RECORD), 'utf8');
  } catch {
    return;
  }
  for (const line of record.split('\n').filter((each) => /^".*"$/.test(each))) remove(JSON.parse(line));
}

/** An empty folder that nobody can write to: only we make those. */
export function isPlaceholder(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true || (stat.mode & 0o777) !== MODE) return false;
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  try {
    if (isPlaceholder(path)) rmdirSync(path);
  } catch {
    // Somebody else removed it first.
  }
}
