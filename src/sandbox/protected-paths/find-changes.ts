import { statOf } from '../../host/files.ts';
import { isWalked } from '../../kernel/world/file-policy.ts';
import type { FileChanges } from '../../kernel/world/sandbox.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { isUnwalked } from './symlink-targets.ts';

/** The entries of each folder, by its path. */
export type Names = ReadonlyMap<string, readonly string[]>;

/** File times lag behind the clock by up to a tick. */
const TICK_MS = 4;
const MOST_PATHS = 10_000;

/**
 * Finds the changes of a live run in the workspace: names that came and went, and files whose inode changed since it began. Other
 * writers of the same time are in the list as well; the time cap keeps a large tree from costing more than the run.
 */
export async function findChanges(given: {
  workspace: string;
  before: Names;
  after: Names;
  startedAtMs: number;
  capMs: number;
}): Promise<FileChanges> {
  const { workspace, before, after } = given;
  const created: string[] = [];
  const modified: string[] = [];
  const deleted: string[] = [];
  const end = performance.now() + given.capMs;
  const yielder = createYielder();
  let complete = true;
  /** Some folders were not compared. */
  let unlooked = false;

  for (const [folder, names] of after) {
    if (isGit(folder)) continue;
    // It is here only because of a link, which may be new.
    if (isUnwalked(folder)) {
      unlooked = true;
      continue;
    }
    const old = new Set(before.get(folder) ?? []);
    for (const name of names) {
      if (folder === '' && name === '.git') {
        old.delete(name);
        continue;
      }
      const path = join(folder, name);
      if (!isWalked(path)) unlooked = true;
      if (old.delete(name) === false) created.push(path);
      else if (changedSince(`${workspace}/${path}`, given.startedAtMs - TICK_MS)) modified.push(path);
      if (performance.now() >= end || created.length + modified.length > MOST_PATHS) {
        complete = false;
        break;
      }
      if (yielder.isDue()) await yielder.pause();
    }
    if (!complete) break;
    for (const name of old) deleted.push(join(folder, name));
  }
  for (const [folder, names] of before) {
    if (after.has(folder) || !complete || isGit(folder)) continue;
    if (isUnwalked(folder)) unlooked = true;
    else for (const name of names) deleted.push(join(folder, name));
  }
  if (deleted.length > MOST_PATHS) {
    complete = false;
    deleted.length = MOST_PATHS;
  }
  return {
    created: created.sort(),
    modified: modified.sort(),
    deleted: deleted.sort(),
    complete: complete && !unlooked,
  };
}

/** Files only: a folder changes with its entries, which are listed themselves. */
function changedSince(path: string, sinceMs: number): boolean {
  const stat = statOf(path);
  return stat !== undefined && !stat.isDirectory() && stat.ctimeMs >= sinceMs;
}

function isGit(folder: string): boolean {
  return folder === '.git' || folder.startsWith('.git/') || /\/\.git(\/|$)/.test(folder);
}

function join(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
