import { statfsSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { statOf } from '../../host/files.ts';
import type { Limits } from '../../kernel/world/sandbox.ts';
import { deviceOf, findUnlinkedFiles, type UnlinkedFile } from './unlinked-files.ts';

/**
 * Finds what a run takes of the disk by means that its count of written bytes does not show, such as reserving room for
 * a file, or many empty ones. The free space of the file system is cheap to read: when it has shrunk by more than the limit, the
 * files that changed since the run began are looked at soon. Others write and delete there as well, so new files are also
 * counted from time to time whatever the file system says, in at most a twentieth of the time.
 */
export interface DiskGrowth {
  /** Whether the run is known to hold more than this. The looking goes on beside it, so the answer comes later. */
  isOver(limits: DiskLimits, pids: readonly number[]): boolean;
}

type DiskLimits = Pick<Limits, 'writeBytes' | 'newFiles'>;

/** File times lag behind the clock by up to a tick. */
const TICK_MS = 4;
const PAUSE_MS = 500;
const LONG_PAUSE_MS = 5_000;
const PAUSE_PER_LOOK = 20;
const BLOCK_BYTES = 512;

export function createDiskGrowth(folder: string): DiskGrowth {
  const before = freeOf(folder);
  const sinceMs = Date.now();
  let held = { bytes: 0, files: 0 };
  const begunAt = performance.now();
  let [lookedAt, lookMs] = [Number.NEGATIVE_INFINITY, 0];
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

  /** `enough` has the limit of bytes only when the disk itself has passed it: a large file that was touched takes no more room. */
  async function look(enough: { bytes: number; count: number }, pids: readonly number[]): Promise<void> {
    looking = true;
    const startedAt = performance.now();
    const found = await changedFiles(folder, sinceMs, enough);
    const { files, unseen, unseenOn } = findUnlinkedFiles(pids);
    const mayHoldMore = unseen.onDisk || unseenOn.has(deviceOf(statOf(folder)?.dev ?? 0));
    // A folder that cannot be read may hold anything: then all that the disk lost counts as this run's.
    held = {
      bytes: found.complete && !mayHoldMore ? unnamedBytes(files) + found.bytes : lost().bytes,
      files: found.complete ? found.created : lost().files,
    };
    lookedAt = performance.now();
    lookMs = lookedAt - startedAt;
    looking = false;
  }

  return {
    isOver(limits, pids) {
      const { bytes, files } = lost();
      const [isFull, isMany] = [bytes > limits.writeBytes, files > limits.newFiles];
      if ((isFull && held.bytes > limits.writeBytes) || held.files > limits.newFiles) return true;
      const isPressing = isFull || isMany;
      const pauseMs = isPressing ? PAUSE_MS : Math.max(LONG_PAUSE_MS, PAUSE_PER_LOOK * lookMs);
      const waitedMs = performance.now() - (isPressing ? lookedAt : Math.max(lookedAt, begunAt));
      const enough = { bytes: isFull ? limits.writeBytes : Number.POSITIVE_INFINITY, count: limits.newFiles };
      if (!looking && waitedMs > pauseMs) void look(enough, pids);
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
  /** Those that came into being since then, folders and symlinks too. */
  readonly created: number;
  readonly largest: number;
  /** False when there is a folder that may not be listed. */
  readonly complete: boolean;
}

/**
 * Of the files whose inode changed since then: the room they take, how many of them are new, and the size of the largest.
 * Symlinks are not followed. Ends early once it has found more than `enough`.
 */
export async function changedFiles(
  folder: string,
  sinceMs: number,
  enough = { bytes: Number.POSITIVE_INFINITY, count: Number.POSITIVE_INFINITY },
): Promise<ChangedFiles> {
  const dev = statOf(folder)?.dev;
  const counted = new Set<number>();
  let [bytes, created, largest] = [0, 0, 0];
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
      if (stat.birthtimeMs >= sinceMs - TICK_MS) created += 1;
      if (entry.isFile()) largest = Math.max(largest, stat.size);
      if (bytes > enough.bytes || created > enough.count) return result();
    }
  }
  return result();

  function result(): ChangedFiles {
    return { bytes, created, largest, complete };
  }

  function ifGone(error: unknown): [] {
    if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) complete = false;
    return [];
  }
}
