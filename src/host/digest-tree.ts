import { createHash, hash } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { createYielder } from '../kernel/yielding.ts';
import { errnoOf } from './errno.ts';
import { INDEX_NAME, indexContent } from './git-index.ts';
import { MAX_WHOLE_BYTES } from './open-file.ts';

/** A folder with everything below it, as its entries' names, kinds, sizes and times tell. No content is read but that of an index of git. */
export interface TreeDigest {
  readonly digest: string;
  readonly entries: number;
  readonly bytes: number;
  /** The latest time at which an entry changed, of names as of content; 0 where there is none. */
  readonly changedAtMs: number;
}

/**
 * Hashes a tree so that any later change of a file in it, or of a name, gives another digest. Symlinks are not followed;
 * names are taken as bytes. `path` must be a folder that no other user can swap while it is read.
 */
export async function digestTree(path: string): Promise<TreeDigest> {
  const sum = createHash('sha256');
  let [entries, bytes, changedAtMs] = [0, 0, 0];
  const yielder = createYielder();
  await walk(Buffer.from(path), '');
  return { digest: sum.digest('hex').slice(0, 32), entries, bytes, changedAtMs };

  async function walk(folder: Buffer, below: string): Promise<void> {
    for (const name of listed(folder)) {
      const full = Buffer.concat([folder, SLASH, name]);
      const stat = statOf(full);
      if (stat === undefined) continue;
      entries++;
      const at = `${below}/${name.toString('hex')}`;
      if (stat === 'forbidden') {
        sum.update(`${at} ?\n`);
        continue;
      }
      changedAtMs = Math.max(changedAtMs, Number(stat.ctimeNs) / 1e6);
      if (stat.isFile()) bytes += Number(stat.size);
      // The time of a folder is that of its names, which are hashed themselves.
      const said = stat.isFile() && name.toString() === INDEX_NAME ? indexDigest(full) : null;
      const own = stat.isDirectory() ? '' : (said ?? `${stat.size} ${stat.mtimeNs} ${stat.ino}`);
      sum.update(`${at} ${stat.mode} ${own}\n`);
      if (stat.isDirectory()) await walk(full, at);
      if (yielder.isDue()) await yielder.pause();
    }
  }
}

const SLASH = Buffer.from('/');

function listed(folder: Buffer): Buffer[] {
  try {
    return readdirSync(folder, { encoding: 'buffer' }).sort(Buffer.compare);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}

/** The hash of what an index of git says: a `git status` renews the rest of it. Null for any other file. */
function indexDigest(path: Buffer): string | null {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(fd);
      const said = stat.isFile() && stat.size <= MAX_WHOLE_BYTES ? indexContent(readFileSync(fd)) : null;
      return said === null ? null : hash('sha256', said, 'hex');
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return null;
  }
}

/** `forbidden` in a folder whose names may be read and whose entries may not be looked at. */
function statOf(path: Buffer): BigIntStats | undefined | 'forbidden' {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error;
    return 'forbidden';
  }
}
