import { statfsSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { readText, statOf } from '../../host/files.ts';
import type { Limits } from '../../kernel/world/sandbox.ts';
import { deviceOf, findUnlinkedFiles, memoryDevices, type UnlinkedFile } from './unlinked-files.ts';

/**
 * Finds what a stage takes of the disk, also by means that a count of written bytes does not show, such as reserving room
 * for a file, or many empty ones. Its folder is walked again and again, in at most a twentieth of the time; soon when the
 * free space of the file system has shrunk by more than the limit.
 */
export interface DiskGrowth {
  /** Whether the stage is known to hold more than this. The looking goes on beside it, so the answer comes later. */
  isOver(limits: DiskLimits, pids: readonly number[]): boolean;
}

type DiskLimits = Pick<Limits, 'writeBytes' | 'newFiles'>;

const PAUSE_MS = 100;
const PAUSE_PER_LOOK = 20;
const BLOCK_BYTES = 512;

/** `before` is what the folder held when the stage began: nothing, unless it is a copy. */
export function createDiskGrowth(folder: string, before: FolderSize = EMPTY): DiskGrowth {
  const free = freeBytes(folder);
  let held = { bytes: 0, entries: 0 };
  let [lookedAt, lookMs] = [performance.now(), 0];
  let looking = false;

  function lostBytes(): number {
    return free - freeBytes(folder);
  }

  async function look(enough: FolderLimits, pids: readonly number[]): Promise<void> {
    looking = true;
    const startedAt = performance.now();
    const found = await sizeOfFolder(folder, enough);
    const { files, unseen, unseenOn } = findUnlinkedFiles(pids);
    const own = deviceOf(statOf(folder)?.dev ?? 0);
    const memory = memoryDevices(readText(`/proc/${pids[0] ?? 'self'}/mountinfo`) ?? '');
    // Files that were deleted take their room as long as they are open. An overlay has a device of its own.
    const isOnDisk = ({ dev, inMemory }: UnlinkedFile): boolean =>
      !inMemory && (deviceOf(dev) === own || !memory.has(deviceOf(dev)));
    const unlinked = files.filter(isOnDisk).reduce((sum, each) => sum + each.bytes, 0);
    // A folder that cannot be read may hold anything: then all that the disk lost counts as this run's.
    const isKnown = found.complete && !unseen.onDisk && !unseenOn.has(own);
    const bytes = found.bytes - before.bytes + unlinked;
    held = { bytes: isKnown ? bytes : Math.max(bytes, lostBytes()), entries: found.entries - before.entries };
    lookedAt = performance.now();
    lookMs = lookedAt - startedAt;
    looking = false;
  }

  return {
    isOver(limits, pids) {
      if (held.bytes > limits.writeBytes || held.entries > limits.newFiles) return true;
      const pauseMs = lostBytes() > limits.writeBytes ? PAUSE_MS : Math.max(PAUSE_MS, PAUSE_PER_LOOK * lookMs);
      const enough = { bytes: limits.writeBytes + before.bytes, entries: limits.newFiles + before.entries };
      if (!looking && performance.now() - lookedAt > pauseMs) void look(enough, pids);
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

export interface FolderSize {
  /** On disk. */
  readonly bytes: number;
  readonly entries: number;
}

type FolderLimits = FolderSize;

const EMPTY: FolderSize = { bytes: 0, entries: 0 };

/** The room that everything below a folder takes. Symlinks are not followed. Ends early once it is more than `enough`. */
export async function sizeOfFolder(
  folder: string,
  enough: FolderLimits = { bytes: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY },
): Promise<
  FolderSize & { readonly largest: number /** False when a folder may not be listed. */; readonly complete: boolean }
> {
  const counted = new Set<number>();
  let [bytes, entries, largest] = [0, 0, 0];
  let complete = true;
  const queue = [folder];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    for (const entry of await readdir(path, { withFileTypes: true }).catch(ifGone)) {
      const full = join(path, entry.name);
      if (entry.isDirectory()) queue.push(full);
      entries++;
      if (entries > enough.entries) break;
      const stat = await lstat(full).catch(ifGone);
      if (Array.isArray(stat) || counted.has(stat.ino)) continue;
      counted.add(stat.ino);
      bytes += stat.blocks * BLOCK_BYTES;
      if (stat.isFile()) largest = Math.max(largest, stat.size);
      if (bytes > enough.bytes) break;
    }
    if (bytes > enough.bytes || entries > enough.entries) break;
  }
  return { bytes, entries, largest, complete };

  function ifGone(error: unknown): [] {
    if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) complete = false;
    return [];
  }
}
