import { closeSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { digestOf, digestOfFile, versionOf } from '../../host/file-version.ts';
import { kindOf } from '../../kernel/world/protected-path.ts';
import type { PathVersion } from '../../kernel/world/stage.ts';
import type { OpenFolder } from './open-folder.ts';

/** A larger file is read in pieces, while other work goes on. */
const MAX_AT_ONCE_BYTES = 512 * 1024;
const PERMISSIONS = 0o7777;

export function modeOf({ mode }: Stats): number {
  return mode & PERMISSIONS;
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

/** Versions are null for a file that cannot be read. */
export async function versionOfEntry(folder: OpenFolder, name: string, stat: Stats): Promise<PathVersion> {
  const bare = bareVersion(stat);
  if (bare.type === 'symlink') return { ...bare, version: targetOf(folder, name)?.toString() ?? null };
  return bare.type === 'file' ? { ...bare, version: await versionOfFile(folder, name, stat.size) } : bare;
}

export async function versionOfFile(folder: OpenFolder, name: string, size: number): Promise<string | null> {
  const fd = folder.openFile(name);
  if (fd === null) return null;
  try {
    const digest = size <= MAX_AT_ONCE_BYTES ? digestOf(readFileSync(fd)) : await digestOfFile(fd);
    return versionOf(digest);
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
