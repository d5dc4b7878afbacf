import { chmodSync, mkdirSync, readlinkSync, renameSync, rmSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { uniqueName } from '../../host/files.ts';
import { kindOf } from '../../kernel/world/protected-path.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { below, type WalkedPath } from './change-list.ts';
import { copyLook, type TreeCopy } from './copy-tree.ts';
import type { FolderWatches } from './folder-watches.ts';
import type { CopyEntry, FollowedCopy } from './followed-copy.ts';
import type { HiddenPaths } from './hidden-paths.ts';
import type { OpenFolder } from './open-folder.ts';
import { isMask, modeOf, targetOf } from './path-version.ts';

/** Brings entries of a copy up to date with the workspace. One that the run has changed stays as it is. */
export interface PathFollower {
  follow(entry: FollowedEntry): Promise<void>;
  followAll(source: OpenFolder, target: OpenFolder, path: WalkedPath): Promise<void>;
  /** Runs a step that may meet a change of this moment by the host or the run. */
  attempt(step: () => Promise<void>): Promise<void>;
  /** Why something was left out: because the copy would be too large, or could not be written. */
  readonly leftOut: ReadonlySet<'too-much' | 'failed'>;
}

/** An entry of a folder of the workspace, and of the same folder of the copy. */
export interface FollowedEntry extends CopyEntry {
  readonly source: OpenFolder;
}

export interface FollowOptions {
  readonly workspace: string;
  /** A private folder on the file system of the copy. */
  readonly incoming: OpenFolder;
  readonly copy: TreeCopy;
  readonly followed: FollowedCopy;
  readonly hidden: HiddenPaths;
  readonly watches: FolderWatches;
  isOverlaid(path: WalkedPath): boolean;
  /** Whether the host may still be at work at this path: then `again` is called. */
  isUnsettled(path: WalkedPath, stat: Stats): boolean;
  again(path: WalkedPath): void;
  /** Whether folders that are watched already are looked through as well. */
  isThorough(): boolean;
}

export function createPathFollower(options: FollowOptions): PathFollower {
  const { incoming, copy, followed, hidden, watches } = options;
  const { isKnown, isUntouched, note, remove } = followed;
  const workspaceBytes = Buffer.from(options.workspace).toString('latin1');
  const yielder = createYielder();
  const leftOut = new Set<'too-much' | 'failed'>();

  const follow = (entry: FollowedEntry): Promise<void> => attempt(() => followEntry(entry));

  async function attempt(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === undefined) throw error;
      if (!RACES.has(errno)) leftOut.add('failed');
    }
  }

  async function followEntry(entry: FollowedEntry): Promise<void> {
    const { source, target, name, path } = entry;
    const [now, before] = [source.stat(name), target.stat(name)];
    if (now === undefined || !isCopied(now)) {
      remove(entry);
      return;
    }
    if (options.isUnsettled(path, now)) return options.again(path);
    const isHidden = hidden.isHidden(path, now);
    if (now.isDirectory() && !isHidden) return followFolder(entry, now, before);
    if (before === undefined) return isKnown(path, name) ? undefined : place(entry, before);
    if (before.isDirectory()) return remove(entry) ? place(entry, undefined) : undefined;
    const isSame = isHidden ? isMask(before) : isAlike(entry, now, before);
    if (!isSame && isUntouched(path, before)) await place(entry, before);
  }

  async function followFolder(entry: FollowedEntry, now: Stats, before: Stats | undefined): Promise<void> {
    const { source, target, name, path } = entry;
    if (options.isOverlaid(path) || (before === undefined && isKnown(path, name))) return;
    if (before?.isDirectory() !== true) {
      if (before !== undefined && !remove(entry)) return;
      makeFolder(entry, now);
    }
    const [inner, outer] = [source.open(name), target.open(name)];
    try {
      if (inner === null || outer === null) return;
      followMode(outer, path, now);
      await followAll(inner, outer, path);
    } finally {
      inner?.close();
      outer?.close();
    }
  }

  async function followAll(source: OpenFolder, target: OpenFolder, path: WalkedPath): Promise<void> {
    if (!watches.add(source, path) && !options.isThorough()) return;
    for (const name of new Set([...source.names(), ...(copy.names.get(path.bytes) ?? [])])) {
      await follow({ source, target, name, path: below(path, name) });
      if (yielder.isDue()) await yielder.pause();
    }
  }

  /** By the descriptor of the folder: the run may put a symlink in its place. */
  function followMode(folder: OpenFolder, { bytes }: WalkedPath, now: Stats): void {
    const stat = folder.stat('.');
    if (stat === undefined || modeOf(stat) !== copy.modes.get(bytes) || modeOf(stat) === modeOf(now)) return;
    chmodSync(`/proc/self/fd/${folder.fd}`, modeOf(now));
    copy.modes.set(bytes, modeOf(now));
  }

  function makeFolder({ target, name, path }: FollowedEntry, now: Stats): void {
    const made = incoming.at(uniqueName('folder'));
    mkdirSync(made, { mode: 0o700 });
    copyLook(made, now);
    renameSync(made, target.at(name));
    copy.modes.set(path.bytes, modeOf(now));
    copy.count(path, now);
    note(path, name);
  }

  /** Copied under another name first, so that it appears whole, and only if it may still be seen then. */
  async function place(entry: FollowedEntry, before: Stats | undefined): Promise<void> {
    const { source, target, name, path } = entry;
    const as = uniqueName('entry');
    try {
      const done = await copy.copyEntry({ source, name, path, target: incoming, as });
      if (done === 'too-much') leftOut.add('too-much');
      // Hard links are judged by their file: a hidden one may have got this name a moment ago.
      const isKnown = done !== 'linked' || (await hidden.refresh()) !== null;
      const copied = incoming.stat(as);
      if (copied === undefined || done === 'too-much') return;
      const isSecret =
        copied.isFile() && !isMask(copied) && (await hidden.isSecretCopy(path, { folder: incoming, name: as }));
      if (!isKnown || isSecret || !maySee(entry, copied)) {
        copy.release(copied);
        return options.again(path);
      }
      renameSync(incoming.at(as), target.at(name));
      if (before !== undefined) copy.release(before);
      note(path, name);
      const after = target.stat(name);
      // Otherwise the run has changed it already.
      if (after !== undefined && isUnchanged(copied, after)) followed.notePlaced(path, after);
    } finally {
      rmSync(incoming.at(as), { force: true });
    }
  }

  /** Whether the copy of an entry may be seen under its name now: that may be the name of another file by now. */
  function maySee({ source, name, path }: FollowedEntry, copied: Stats): boolean {
    const now = source.stat(name);
    if (now === undefined) return false;
    if (hidden.isHidden(path, now)) return isMask(copied);
    const folder = readlinkSync(`/proc/self/fd/${source.fd}`, 'latin1');
    return kindOf(now) === kindOf(copied) && folder === join(workspaceBytes, dirname(path.bytes));
  }

  return { follow, followAll, attempt, leftOut };
}

const RACES = new Set(['ENOENT', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY', 'EISDIR', 'ELOOP', 'ESTALE']);

function isCopied(stat: Stats): boolean {
  return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink();
}

/** Whether a file or symlink of the copy looks as if it were copied now. */
function isAlike({ source, target, name }: FollowedEntry, now: Stats, before: Stats): boolean {
  if (kindOf(now) !== kindOf(before)) return false;
  if (now.isSymbolicLink()) return targetOf(source, name)?.equals(targetOf(target, name) ?? Buffer.of()) === true;
  // Times are copied to less than a microsecond.
  const isSameTime = Math.abs(now.mtimeMs - before.mtimeMs) < 0.002;
  return isSameTime && now.size === before.size && modeOf(now) === modeOf(before);
}

function isUnchanged(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs && one.mode === other.mode;
}
