import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { digestTree } from '../../host/digest-tree.ts';
import {
  digestOf,
  digestOfFile,
  digestsOf,
  isTimesVersion,
  MAX_HASHED_BYTES,
  timesVersion,
  versionOf,
} from '../../host/file-version.ts';
import type { Folder } from '../../host/folder.ts';
import { MAX_WHOLE_BYTES, readWhole } from '../../host/open-file.ts';
import { shortPath } from '../../host/parse-path.ts';
import { fail, type Result } from '../../kernel/result.ts';

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MAX_NAMED = 5;

/** A file, symlink or folder as it was compared with what a change expects. */
export interface ReadVersion {
  /** Of a file its version, of a symlink its target, of a folder `digestTree`. An index of git has two. */
  readonly versions: readonly string[];
  /** Whole hash of a file or folder; null for a symlink. */
  readonly digest: string | null;
  /** The one to compare it by later: of an index of git the hash of what it says. */
  readonly comparable: string | null;
  /** Of a file that is not too large to be held. */
  readonly bytes: Buffer | null;
}

/** Throws what the system throws. `stat` is that of the name; a device, socket or pipe has no version. */
export async function readVersion(folder: Folder, name: string, stat: Stats): Promise<ReadVersion> {
  if (stat.isSymbolicLink()) return { versions: [folder.readLink(name)], digest: null, comparable: null, bytes: null };
  if (stat.isDirectory()) {
    const child = folder.openChild(name);
    try {
      const { digest } = await digestTree(child.self);
      return { versions: [digest], digest, comparable: digest, bytes: null };
    } finally {
      child.close();
    }
  }
  const fd = openSync(folder.at(name), READ);
  try {
    const now = fstatSync(fd);
    if (!now.isFile()) throw Object.assign(new Error('special'), { code: 'ENXIO' });
    if (now.size > MAX_HASHED_BYTES) {
      const version = timesVersion(now);
      const digest = digestOf(Buffer.from(version));
      return { versions: [version], digest, comparable: digest, bytes: null };
    }
    const bytes = now.size > MAX_WHOLE_BYTES ? null : readWhole({ fd, stat: now }, MAX_WHOLE_BYTES);
    const digests = bytes === null ? ([await digestOfFile(fd)] as const) : digestsOf(name, bytes);
    return { versions: digests.map(versionOf), digest: digests[0], comparable: digests.at(-1) ?? null, bytes };
  } finally {
    closeSync(fd);
  }
}

/** Whether it has the version that a change expects, compared in the way of that version. Throws what the system throws. */
export async function isAtVersion(folder: Folder, name: string, version: string): Promise<boolean> {
  const stat = folder.stat(name);
  if (stat === null) return false;
  if (isTimesVersion(version)) return stat.isFile() && timesVersion(stat) === version;
  return (await readVersion(folder, name, stat)).versions.includes(version);
}

/** Whether a name still stands for the same file, which nobody wrote to. */
export function isSame(now: Stats | null, before: Stats): boolean {
  return now !== null && now.ino === before.ino && now.size === before.size && now.mtimeMs === before.mtimeMs;
}

export function conflictAt(path: string, how: string): Result<never> {
  return fail('CONFLICT', `${shortPath(path)} ${how}; nothing was changed. ${NEXT}`, { path, paths: [path] });
}

/** The failure for content of a stage that is not the one a person saw. */
export function alteredAt(path: string): Result<never> {
  return conflictAt(path, 'is not what was shown: its pending content was changed');
}

const NEXT = 'Leave it out, or discard these changes and run the command again.';

/** One failure for all paths that differ from what their changes expect. */
export function joinConflicts(paths: readonly string[], first: Result<never>): Result<never> {
  if (first.ok || paths.length < 2) {
    return first.ok ? first : fail('CONFLICT', first.error.message, { ...first.error.details, paths });
  }
  const named = paths.slice(0, MAX_NAMED).map(shortPath).join(', ');
  const rest = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : '';
  const message = `${paths.length} paths are not as they were when the changes were made: ${named}${rest}; nothing was changed. ${NEXT}`;
  return fail('CONFLICT', message, { paths });
}
