import { statfsSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type HeldFile, heldBy } from './held-files.ts';
import { statOf } from './inside.ts';

/**
 * Finds what a run takes of the disk by means that its count of written bytes does not show, such as reserving room for
 * a file. The free space of the file system is cheap to ask, but others write there as well: only when it has shrunk by
 * more than the limit are the files looked at that changed since the run began.
 */
export interface DiskGrowth {
  /** Whether the run is known to hold more than this. The looking goes on beside it, so the answer comes later. */
  isOver(bytes: number, pids: readonly number[]): boolean;
}

/** File times lag behind the clock by up to a tick. */
const TICK_MS = 4;
const PAUSE_MS = 500;
const BLOCK_BYTES = 512;

export function createDiskGrowth(folder: string): DiskGrowth {
  const freeBefore = freeBytes(folder);
  const sinceMs = Date.now();
  let [held, lookedAt] = [0, Number.NEGATIVE_INFINITY];
  let looking = false;

  /** Files that were deleted take their room as long as they are held. */
  function unnamedBytes(files: readonly HeldFile[]): number {
    const dev = statOf(folder)?.dev;
    return files.filter((file) => file.dev === dev).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async function look(pids: readonly number[]): Promise<void> {
    looking = true;
    const { bytes, complete } = await changedFiles(folder, sinceMs);
    const { files, unseen } = heldBy(pids);
    // What cannot be looked at may hold anything: then all that the disk lost counts as this run's.
    held = complete && !unseen.onDisk ? unnamedBytes(files) + bytes : freeBefore - freeBytes(folder);
    lookedAt = performance.now();
    looking = false;
  }

  return {
    isOver(bytes, pids) {
      if (freeBefore - freeBytes(folder) <= bytes) return false;
      if (held > bytes) return true;
      if (!looking && performance.now() - lookedAt > PAUSE_MS) void look(pids);
      return false;
    },
  };
}

function freeBytes(folder: string): number {
  try {
    const { bfree, bsize } = statfsSync(folder);
    return bfree * bsize;
  } catch {
    return 0;
  }
}

export interface ChangedFiles {
  readonly bytes: number;
  readonly largest: number;
  /** False when there is a folder that may not be listed. */
  readonly complete: boolean;
}

/** Of the files whose inode changed since then: the room they take, and the size of the largest. Links are not followed. */
export async function changedFiles(folder: string, sinceMs: number): Promise<ChangedFiles> {
  const dev = statOf(folder)?.dev;
  const counted = new Set<number>();
  let [bytes, largest] = [0, 0];
  let complete = true;
  const queue = [folder];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    for (const entry of await readdir(path, { withFileTypes: true }).catch(ifGone)) {
      const full = join(path, entry.name);
      if (entry.isDirectory()) queue.push(full);
      if (!entry.isFile()) continue;
      const stat = await lstat(full).catch(ifGone);
      if (Array.isArray(stat) || stat.dev !== dev || stat.ctimeMs < sinceMs - TICK_MS || counted.has(stat.ino))
        continue;
      counted.add(stat.ino);
      bytes += stat.blocks * BLOCK_BYTES;
      largest = Math.max(largest, stat.size);
    }
  }
  return { bytes, largest, complete };

  function ifGone(error: NodeJS.ErrnoException): [] {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') complete = false;
    return [];
  }
}
