import { statfsSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { statOf } from '../../host/files.ts';
import type { Limits } from '../../kernel/world/sandbox.ts';
import { deviceOf, findUnlinkedFiles, type UnlinkedFile } from './unlinked-files.ts';

/**
 * Finds what a run takes of the disk by means that its count of written bytes does not show, such as reserving room for
 * a file, or many empty ones. The free space of the file system is cheap to read, but others write there as well: only when it
 * has shrunk by more than the limit are the files looked at that changed since the run began.
 */
export interface DiskGrowth {
  /** Whether the run is known to hold more than this. The looking goes on beside it, so the answer comes later. */
  isOver(limits: DiskLimits, pids: readonly number[]): boolean;
}

type DiskLimits = Pick<Limits, 'writeBytes' | 'newFiles'>;

/** File times lag behind the clock by up to a tick. */
const TICK_MS = 4;
const PAUSE_MS = 500;
const BLOCK_BYTES = 512;

export function createDiskGrowth(folder: string): DiskGrowth {
  const before = freeOf(folder);
  const sinceMs = Date.now();
  let [held, lookedAt] = [{ bytes: 0, files: 0 }, Number.NEGATIVE_INFINITY];
  let looking = false;

  /** Files that were deleted take their room as long as they are held. */
  function unnamedBytes(files: readonly UnlinkedFile[]): number {
    const dev = statOf(folder)?.dev;
    return files.filter((file) => file.dev === dev).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  function lost(): { bytes: number; files: number } {
    const now = freeOf(folder);
    return { bytes: before.bytes - now.bytes, files: now.files - before.files };
  }

  /** `enough` has only limits that the disk itself has passed: a large file that was touched says nothing about new ones. */
  async function look(enough: { bytes: number; count: number }, pids: readonly number[]): Promise<void> {
    looking = true;
    const found = await changedFiles(folder, sinceMs, enough);
    const { files, unseen, unseenOn } = findUnlinkedFiles(pids);
    const mayHoldMore = unseen.onDisk || unseenOn.has(deviceOf(statOf(folder)?.dev ?? 0));
    // A folder that cannot be read may hold anything: then all that the disk lost counts as this run's.
    held = {
      bytes: found.complete && !mayHoldMore ? unnamedBytes(files) + found.bytes : lost().bytes,
      // One that only changed is none more.
      files: found.complete ? Math.min(found.count, lost().files) : lost().files,
    };
    lookedAt = performance.now();
    looking = false;
  }

  return {
    isOver(limits, pids) {
      const { bytes, files } = lost();
      const [isFull, isMany] = [bytes > limits.writeBytes, files > limits.newFiles];
      if (!isFull && !isMany) return false;
      if ((isFull && held.bytes > limits.writeBytes) || (isMany && held.files > limits.newFiles)) return true;
      const enough = {
        bytes: isFull ? limits.writeBytes : Number.POSITIVE_INFINITY,
        count: isMany ? limits.newFiles : Number.POSITIVE_INFINITY,
      };
      if (!looking && performance.now() - lookedAt > PAUSE_MS) void look(enough, pids);
      return false;
    },
  };
}

/** Room, and how many files there are; some file systems have no such number, and say 0. How many more there can be hangs on the room. */
function freeOf(folder: string): { bytes: number; files: number } {
  try {
    const { bfree, bsize, files, ffree } = statfsSync(folder);
    return { bytes: bfree * bsize, files: files - ffree };
  } catch {
    return { bytes: 0, files: 0 };
  }
}

export interface ChangedFiles {
  readonly bytes: number;
  /** Folders and links, too. */
  readonly count: number;
  readonly largest: number;
  /** False when there is a folder that may not be listed. */
  readonly complete: boolean;
}

/**
 * Of the files whose inode changed since then: the room they take, how many they are, and the size of the largest. Links
 * are not followed. Ends early once it has found more than `enough`.
 */
export async function changedFiles(
  folder: string,
  sinceMs: number,
  enough = { bytes: Number.POSITIVE_INFINITY, count: Number.POSITIVE_INFINITY },
): Promise<ChangedFiles> {
  const dev = statOf(folder)?.dev;
  const counted = new Set<number>();
  let [bytes, largest] = [0, 0];
  let complete = true;
  const queue = [folder];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    for (const entry of await readdir(path, { withFileTypes: true }).catch(ifGone)) {
      const full = join(path, entry.name);
      if (entry.isDirectory()) queue.push(full);
      const stat = await lstat(full).catch(ifGone);
      if (Array.isArray(stat) || stat.dev !== dev || stat.ctimeMs < sinceMs - TICK_MS || counted.has(stat.ino))
        continue;
      counted.add(stat.ino);
      bytes += stat.blocks * BLOCK_BYTES;
      if (entry.isFile()) largest = Math.max(largest, stat.size);
      if (bytes > enough.bytes || counted.size > enough.count) return result();
    }
  }
  return result();

  function result(): ChangedFiles {
    return { bytes, count: counted.size, largest, complete };
  }

  function ifGone(error: unknown): [] {
    if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) complete = false;
    return [];
  }
}
