import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync, renameSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { failpoint } from '../kernel/failpoint.ts';
import type { Quarantined } from '../kernel/sandbox.ts';
import { isText } from './folder-entries.ts';
import { type Found, isHeld } from './found.ts';
import { addsNoRisk, isHarmlessGitConfig } from './git-config.ts';
import {
  hookNames,
  hookState,
  isGitConfig,
  isGitHooks,
  isOwnGitFile,
  isOwnWorktree,
  isPlain,
  stateOf,
} from './git-folders.ts';
import { identityOf, inFolder, readTextInside, statOf } from './inside.ts';

interface Remembered {
  readonly state: string | undefined;
  readonly identity: string | undefined;
}

/** What protected places were like before a run, by path. */
export type Memory = ReadonlyMap<string, Remembered>;

export interface Swept {
  readonly quarantined: readonly Quarantined[];
  /** What the host would obey and what could not be renamed, and what could not be looked into. */
  readonly left: readonly string[];
}

export function remember(workspace: string, found: readonly Found[]): Memory {
  return new Map(
    found
      .filter((each) => isSwept(each) || isHiddenFolder(each))
      .map((each) => {
        const state = each.access === 'read-only' ? stateOf(workspace, each) : undefined;
        return [each.path, { state, identity: identityOf(`${workspace}/${each.path}`) }];
      }),
  );
}

function isHiddenFolder({ access, kind, because }: Found): boolean {
  return access === 'hidden' && kind === 'folder' && because === undefined;
}

/** Whether a hidden folder is another than before: then the run could write into it. */
export function isFreshSince(workspace: string, memory: Memory): (hidden: Found) => boolean {
  return (found) =>
    isHiddenFolder(found) && memory.get(found.path)?.identity !== identityOf(`${workspace}/${found.path}`);
}

function isSwept({ access, because }: Found): boolean {
  return (access === 'read-only' && because !== 'alias') || because === 'unreadable' || because === 'unnameable';
}

/**
 * After a live run: what it created where the host would execute or obey it is renamed, so that nothing is lost and
 * nothing happens. So is what changed in a protected place, since whoever replaces a file on the host lifts its
 * protection. Every path is walked over open folders without following links, since a process that still runs could put
 * one there.
 */
export function sweep(workspace: string, before: readonly Found[], after: readonly Found[], memory: Memory): Swept {
  const known = new Map(before.map((found) => [found.path, found.kind]));
  const isChanged = (found: Found): boolean =>
    known.get(found.path) !== found.kind || isOther(workspace, found, memory.get(found.path));
  const reached = new Set(after.map(({ path }) => path));
  // Nobody held these, and the run may have taken away the link by which they are found.
  const unreached = before.filter((found) => !isHeld(found) && !reached.has(found.path));
  const planted = [...after, ...unreached.filter(({ path }) => statOf(`${workspace}/${path}`) !== undefined)]
    .filter(isSwept)
    // Where a new link leads is anybody's: without the link nothing obeys it.
    .filter(({ because, path }) => because !== 'target' || known.has(path))
    .filter(isChanged)
    .flatMap((found) => judge(workspace, found, memory.get(found.path)?.state));
  const moved = planted.map((each) => ({ ...each, movedTo: moveAside(workspace, each) }));
  return {
    quarantined: moved.flatMap(({ path, reason, movedTo }) => (movedTo === null ? [] : [{ path, movedTo, reason }])),
    left: [
      ...moved.filter(
        ({ path, movedTo, isNoText }) => movedTo === null && (isNoText || statOf(`${workspace}/${path}`)),
      ),
      ...after.filter(({ because }) => because === 'failed'),
    ].map(({ path }) => path || '.'),
  };
}

/**
 * Git's files, links and what was not held are compared by what they say. Others were mounted on, so that only whoever
 * replaced them on the host could lift the protection: a file that is still the same one was written by nobody inside.
 */
function isOther(workspace: string, found: Found, before: Remembered | undefined): boolean {
  if (before === undefined) return true;
  const isSame = before.state === stateOf(workspace, found);
  if (before.state !== undefined && (isSame || !isPlain(found) || !isHeld(found))) return !isSame;
  return before.identity !== identityOf(`${workspace}/${found.path}`);
}

interface Planted {
  readonly path: string;
  readonly reason: string;
  /** Its path is only nearly right, and may be that of something else. */
  readonly isNoText?: true;
}

function judge(workspace: string, found: Found, before: string | undefined): Planted[] {
  const { path } = found;
  const reason = found.rule?.reason ?? 'the host would obey it';
  if (found.because === 'unreadable') return [{ path, reason: 'nobody can look into it' }];
  if (found.because === 'unnameable')
    return [{ path, reason: 'its name is no text, so that nothing can be hidden in it', isNoText: true }];
  if (isGitHooks(found)) {
    const known = new Set(before?.split('\n'));
    const isKnown = (name: string): boolean => known.size > 0 && known.has(hookState(workspace, path, name));
    return hookNames(workspace, path)
      .filter((name) => !PUT_ASIDE.test(name) && !isKnown(name))
      .map((name) => ({ path: `${path}/${name}`, reason }));
  }
  if (isGitConfig(found)) {
    const text = readTextInside(workspace, path);
    const mayBeWorktree = (named: string): boolean => isOwnWorktree(workspace, found, named);
    if (isHarmlessGitConfig(text, mayBeWorktree)) return [];
    const isKnown = text !== null && before !== undefined && addsNoRisk(before, text, mayBeWorktree);
    return isKnown ? [] : [{ path, reason }];
  }
  return isOwnGitFile(workspace, found) ? [] : [{ path, reason }];
}

const SUFFIX = '.quarantined';
const PUT_ASIDE = /\.quarantined(-\d)?$/;

/** The new path, or null when it could not be renamed. */
function moveAside(workspace: string, { path, isNoText }: Planted): string | null {
  const name = basename(path);
  const movedTo = inFolder(workspace, dirname(path), (folder) => {
    const candidates = [1, 2, 3, 4, 5].map((i) => `${name}${SUFFIX}${i === 1 ? '' : `-${i}`}`);
    // What was planted may have a name of full length, or names that stand in the way.
    const free = candidates.find((each) => each.length < 200 && statOf(`${folder}/${each}`) === undefined);
    const target = free ?? `${randomBytes(8).toString('hex')}${SUFFIX}`;
    failpoint('sandbox.before_rename');
    whileWritable(folder, () =>
      renameSync(isNoText ? bytesOf(folder, name) : `${folder}/${name}`, `${folder}/${target}`),
    );
    failpoint('sandbox.after_rename');
    return [target];
  })[0];
  if (movedTo === undefined) return null;
  return dirname(path) === '.' ? movedTo : `${dirname(path)}/${movedTo}`;
}

/** The path of an entry whose name is no text and is read as this. */
function bytesOf(folder: string, name: string): Buffer {
  const names = readdirSync(folder, { encoding: 'buffer' });
  const found = names.find((each) => each.toString() === name && !isText(each));
  return Buffer.concat([Buffer.from(`${folder}/`), found ?? Buffer.from(name)]);
}

/** A run may take the right to write in a folder away from us; what is ours can be given back. */
function whileWritable(folder: string, rename: () => void): void {
  const { mode } = lstatSync(`${folder}/.`);
  if ((mode & 0o300) !== 0o300) chmodSync(`${folder}/.`, (mode & 0o7777) | 0o300);
  try {
    rename();
  } finally {
    if ((mode & 0o300) !== 0o300) chmodSync(`${folder}/.`, mode & 0o7777);
  }
}
