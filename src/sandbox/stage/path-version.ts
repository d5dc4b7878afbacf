import { closeSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { digestOfFile, digestsOf, MAX_HASHED_BYTES, timesVersion, versionOf } from '../../host/file-version.ts';
import { INDEX_NAME } from '../../host/git-index.ts';
import { MAX_WHOLE_BYTES } from '../../host/open-file.ts';
import { kindOf } from '../../kernel/world/protected-path.ts';
import type { PathVersion } from '../../kernel/world/stage.ts';
import type { OpenFolder } from './open-folder.ts';

/** A larger file is read in pieces, while other work goes on. */
const MAX_AT_ONCE_BYTES = 512 * 1024;
const MAX_HASHED_IN_ALL_BYTES = 4 * MAX_HASHED_BYTES;
const PERMISSIONS = 0o7777;
const READ_OR_WRITE = 0o666;

export function modeOf({ mode }: Stats): number {
  return mode & PERMISSIONS;
}

/** Whether it is a file that nobody may read or write, as it lies over a hidden path. */
export function isMask(stat: Stats): boolean {
  return stat.isFile() && (modeOf(stat) & READ_OR_WRITE) === 0;
}

/** Different for an entry that anybody has changed since, or put in the place of another. */
export function identityOf({ ino, mode, size, mtimeMs, ctimeMs }: Stats): string {
  return [ino, mode, size, mtimeMs, ctimeMs].join(':');
}

/** A path without its version, as of a secret. */
export function bareVersion(stat: Stats): PathVersion {
  const type = kindOf(stat);
  return { type, mode: modeOf(stat), size: type === 'file' ? stat.size : 0, version: null };
}

/** Versions of the entries of a comparison. They are null for a file that cannot be read. */
export interface EntryVersions {
  ofEntry(folder: OpenFolder, name: string, stat: Stats): Promise<PathVersion>;
  ofFile(folder: OpenFolder, name: string, stat: Stats): Promise<string | null>;
}

/** Hashes files as long as they are not too much in all; a huge file, and a large one after that, is known by its time. */
export function createEntryVersions(): EntryVersions {
  let room = MAX_HASHED_IN_ALL_BYTES;

  async function ofFile(folder: OpenFolder, name: string, stat: Stats): Promise<string | null> {
    const isTooMuch = stat.size > MAX_HASHED_BYTES || (stat.size > room && stat.size > MAX_AT_ONCE_BYTES);
    if (isTooMuch) return timesVersion(stat);
    room -= stat.size;
    return hashOf(folder, name, stat.size);
  }

  return {
    ofFile,
    async ofEntry(folder, name, stat) {
      const bare = bareVersion(stat);
      if (bare.type === 'symlink') return { ...bare, version: targetOf(folder, name)?.toString() ?? null };
      return bare.type === 'file' ? { ...bare, version: await ofFile(folder, name, stat) } : bare;
    },
  };
}

async function hashOf(folder: OpenFolder, name: string, size: number): Promise<string | null> {
  const fd = folder.openFile(name);
  if (fd === null) return null;
  try {
    const isWhole = size <= (name === INDEX_NAME ? MAX_WHOLE_BYTES : MAX_AT_ONCE_BYTES);
    const digest = isWhole ? digestsOf(name, readFileSync(fd)).at(-1) : await digestOfFile(fd);
    return digest === undefined ? null : versionOf(digest);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return null;
  } finally {
    closeSync(fd);
  }
}

/** Null when it is no symlink any more. */
export function targetOf(folder: OpenFolder, name: string): Buffer | null {
  try {
    return readlinkSync(folder.at(name), { encoding: 'buffer' });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return null;
  }
}
