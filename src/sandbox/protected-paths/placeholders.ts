import { hash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { namesIn, statOf, uniqueName } from '../../host/files.ts';
import { OWN_PROCESS_ID, OWNED_NAME, stateOfProcess } from '../../host/process-identity.ts';
import type { FileRule } from '../../kernel/world/sensitive-files.ts';

/** Names in the workspace root that nobody may create from inside. */
export function blockedNames(rules: readonly FileRule[]): string[] {
  return rules
    .filter(({ access, missing, pattern }) => access === 'read-only' && missing === 'block' && !/[*?]/.test(pattern))
    .map(({ pattern }) => pattern.replace(/^\//, ''))
    .filter((name) => !name.includes('/'));
}

export interface HeldPlaceholders {
  readonly names: readonly string[];
  /** Names where nothing stands and nothing could be put, as when the disk is full: a run could create them. */
  readonly open: readonly string[];
  /** May be called again. */
  release(): void;
}

const RECORD = 'placeholder-';
/** Nobody else makes a folder like that, so that one made by hand is never taken for ours. */
const MODE = 0o1700;
/** Whether a process of another container or machine still runs cannot be told. No run takes that long. */
const LONGEST_USE_MS = 24 * 60 * 60 * 1000;
/** Somebody may remove it between our two steps, and somebody else again. */
const ATTEMPTS = 20;

/**
 * Puts a folder where a blocked name is missing, so that a mount has something to lie on. Runs share it, whichever
 * process they belong to: each has a folder of its own in it, so that the system itself removes it only after the last
 * one has left. Folders, because git sees no folder without files. Written down in `recordFolder` first, for whoever
 * tidies up after a process that was killed.
 */
export function holdPlaceholders(
  workspace: string,
  blocked: readonly string[],
  recordFolder: string,
): HeldPlaceholders {
  const held = new Map(blocked.flatMap((name) => hold(`${workspace}/${name}`, recordFolder, name)));
  return {
    names: [...held.keys()],
    open: blocked.filter((name) => !held.has(name) && mayBeMade(workspace, name)),
    release() {
      for (const release of held.values()) release();
      held.clear();
    },
  };
}

/** Empty when there is something else, or nothing can be put there. */
function hold(path: string, recordFolder: string, name: string): [string, () => void][] {
  if (statOf(path) !== undefined && !isPlaceholder(path)) return [];
  const record = join(recordFolder, `${RECORD}${hash('sha256', path, 'hex').slice(0, 24)}`);
  tried(() => writeFileSync(record, JSON.stringify(path)));
  const own = join(path, `${OWN_PROCESS_ID}-${uniqueName('run')}`);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const made = tried(() => mkdirSync(path, { mode: MODE }));
    if (!isPlaceholder(path)) {
      if (made) tried(() => rmdirSync(path));
      break;
    }
    // Of another user: it is there to be mounted on, and may go when its own runs have ended.
    if (tried(() => mkdirSync(own)) || statOf(path) !== undefined) return [[name, () => leave(path, own)]];
  }
  return [];
}

/** Nobody makes anything on a disk that is read-only, or in a folder of somebody else that does not allow it. */
function mayBeMade(workspace: string, name: string): boolean {
  if (statOf(`${workspace}/${name}`) !== undefined) return false;
  try {
    accessSync(workspace, constants.W_OK);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'EROFS' && statOf(workspace)?.uid === process.getuid?.();
  }
}

function leave(path: string, own: string): void {
  tried(() => rmdirSync(own));
  removeUnused(path);
}

/** Removes what a process that was killed had written down in its folder, unless another one uses it. */
export function removeRecorded(recordFolder: string): void {
  for (const name of namesIn(recordFolder).filter((each) => each.startsWith(RECORD))) {
    const path = recordedPath(join(recordFolder, name));
    if (path !== null) removeUnused(path);
    rmSync(join(recordFolder, name), { force: true });
  }
}

function removeUnused(path: string): void {
  if (!isPlaceholder(path) || tried(() => rmdirSync(path))) return;
  for (const name of namesIn(path)) if (isLeft(path, name)) tried(() => rmdirSync(join(path, name)));
  tried(() => rmdirSync(path));
}

/** By a process that was killed. */
function isLeft(path: string, name: string): boolean {
  const owner = OWNED_NAME.exec(name)?.[1];
  if (owner === undefined) return false;
  return stateOfProcess(owner) === 'gone' || Date.now() - (statOf(join(path, name))?.mtimeMs ?? 0) > LONGEST_USE_MS;
}

/** Only we make those. */
export function isPlaceholder(path: string): boolean {
  const stat = statOf(path);
  if (stat?.isDirectory() !== true || (stat.mode & 0o7777) !== MODE) return false;
  return namesIn(path).every((name) => OWNED_NAME.test(name));
}

function recordedPath(record: string): string | null {
  try {
    const path: unknown = JSON.parse(readFileSync(record, 'utf8'));
    return typeof path === 'string' ? path : null;
  } catch {
    return null;
  }
}

function tried(step: () => void): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}
