import { closeSync, lstatSync, openSync, unlinkSync } from 'node:fs';
import type { FileRule } from '../kernel/file-policy.ts';

/** Names in the workspace root that nobody may create from inside. */
export function blockedNames(rules: readonly FileRule[]): string[] {
  return rules
    .filter(({ access, missing, pattern }) => access === 'read-only' && missing === 'block' && !/[*?]/.test(pattern))
    .map(({ pattern }) => pattern.replace(/^\//, ''))
    .filter((name) => !name.includes('/'));
}

export interface Placeholders {
  /** Puts an empty, unreadable file where a blocked name is missing, so that a mask has something to lie on. */
  acquire(workspace: string): { readonly names: readonly string[] /** May be called again. */; release(): void };
}

/**
 * A mount needs something to be mounted on, and what is made for it is made on the host. Runs share it: the first
 * creates it, the last removes it. One that a killed process left behind is adopted, and removed with the rest.
 */
export function createPlaceholders(blocked: readonly string[]): Placeholders {
  const users = new Map<string, number>();
  return {
    acquire(workspace) {
      const names = blocked.filter((name) => create(`${workspace}/${name}`));
      let paths = names.map((name) => `${workspace}/${name}`);
      for (const path of paths) users.set(path, (users.get(path) ?? 0) + 1);
      return {
        names,
        release() {
          for (const path of paths) {
            const left = (users.get(path) ?? 1) - 1;
            if (left > 0) users.set(path, left);
            else if (users.delete(path) && isPlaceholder(path)) unlink(path);
          }
          paths = [];
        },
      };
    },
  };
}

/** True when a placeholder stands there now, ours or an older one. */
function create(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o000));
    return true;
  } catch {
    return isPlaceholder(path);
  }
}

/** An empty file that nobody can read: only we make those. */
export function isPlaceholder(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === 0 && (stat.mode & 0o777) === 0;
}

function unlink(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Somebody else removed it first.
  }
}
