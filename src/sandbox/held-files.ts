import { closeSync, fstatSync, openSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { readText } from './files.ts';

/** A file without a name that takes room as long as a process holds it. */
export interface HeldFile {
  readonly dev: number;
  readonly bytes: number;
  readonly inMemory: boolean;
  /** Else it is only mapped. */
  readonly isOpen: boolean;
}

export interface Held {
  readonly files: readonly HeldFile[];
  readonly sockets: number;
  /**
   * Whether there may be more of them than `files` tells: a process that we may not look into, such as one that was
   * started from an unreadable program, mappings that we may not look behind, files on their way through a socket, or
   * more than one look has time for.
   */
  readonly unseen: { /** At most so many bytes. */ readonly inMemory: number; readonly onDisk: boolean };
  /** File systems in memory that some of it is on, as `deviceOf` tells them. */
  readonly unseenOn: ReadonlySet<string>;
}

/** Nothing else happens in our process meanwhile. */
const LOOK_MS = 50;
/** How much of the time may go into looking. */
const SHARE = 0.1;

/** What the processes of one run hold. Looks again only when the last look was not too long for it. */
export function createHolding(): (pids: readonly number[]) => Held {
  let [last, nextMs]: [Held | null, number] = [null, 0];
  return (pids) => {
    const startedAt = performance.now();
    if (last !== null && startedAt < nextMs) return last;
    last = heldBy(pids);
    const endedAt = performance.now();
    nextMs = endedAt + (endedAt - startedAt) / SHARE;
    return last;
  };
}

/** What the processes hold open or mapped, each once. */
export function heldBy(pids: readonly number[]): Held {
  const until = performance.now() + LOOK_MS;
  const files = new Map<string, HeldFile>();
  const sockets = new Set<string>();
  const missed = new Set<string>();
  const unseenOn = new Set<string>();
  /** Files in memory that somebody has open: their size is known. */
  const open = new Set<string>();
  const unseen = { inMemory: 0, onDisk: false };
  for (const pid of pids) if (!isLate()) lookAtDescriptors(pid);
  for (const pid of pids) if (!isLate()) lookAtMappings(pid);
  return { files: [...files.values()], sockets: sockets.size, unseen, unseenOn };

  function isLate(): boolean {
    const late = performance.now() > until;
    if (late) missAll();
    return late;
  }

  function missAll(): void {
    unseen.inMemory = Number.POSITIVE_INFINITY;
    unseen.onDisk = true;
  }

  function descriptorsOf(pid: number): string[] {
    try {
      return readdirSync(`/proc/${pid}/fd`);
    } catch (error) {
      if (['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) missAll();
      return [];
    }
  }

  function add(stat: Stats | null, inMemory: boolean, isOpen: boolean): boolean {
    const key = `${stat?.dev}:${stat?.ino}`;
    if (stat?.isFile() && files.get(key)?.isOpen !== true) {
      if (isOpen && inMemory) open.add(String(stat.ino));
      files.set(key, { dev: stat.dev, bytes: stat.blocks * 512, inMemory, isOpen });
    }
    return stat !== null;
  }

  function lookAtDescriptors(pid: number): void {
    for (const fd of descriptorsOf(pid)) {
      if (isLate()) return;
      const target = readTarget(`/proc/${pid}/fd/${fd}`);
      if (target?.startsWith('socket:') === true && !sockets.has(target)) {
        sockets.add(target);
        const carried = /^scm_fds: (\d+)/m.exec(readText(`/proc/${pid}/fdinfo/${fd}`) ?? '')?.[1] ?? '0';
        if (carried !== '0') missAll();
      }
      if (target?.endsWith(DELETED) === true) add(statOf(`/proc/${pid}/fd/${fd}`), isInMemory(target), true);
    }
  }

  function lookAtMappings(pid: number): void {
    const maps = readText(`/proc/${pid}/maps`) ?? '';
    if (!maps.includes(DELETED)) return;
    let devices: ReadonlySet<string> | null = null;
    for (const [, range = '', device = '', inode = '', name = ''] of maps.matchAll(DELETED_MAPPING)) {
      if (isLate()) return;
      const stat = statOfMapped(`/proc/${pid}/map_files/${range}`);
      if (add(stat, isInMemory(name), false)) continue;
      devices ??= memoryDevices(readText(`/proc/${pid}/mountinfo`) ?? '');
      if (open.has(inode)) continue;
      if (name.startsWith('/memfd:')) missMapped(`${device} ${inode}`, Number.POSITIVE_INFINITY);
      else if (isInMemory(name) || devices.has(device)) missMapped(`${device} ${inode} ${range}`, lengthOf(range));
      else unseen.onDisk = true;
      unseenOn.add(device);
    }
  }

  /** One that is mapped by several is one. */
  function missMapped(key: string, bytes: number): void {
    if (missed.has(key)) return;
    missed.add(key);
    unseen.inMemory += bytes;
  }
}

/** Of a mapping, as `maps` tells it. */
function lengthOf(range: string): number {
  const [from = '0', to = '0'] = range.split('-');
  return Number(BigInt(`0x${to}`) - BigInt(`0x${from}`));
}

/** A device as `maps` tells it. */
export function deviceOf(dev: number): string {
  const number = BigInt(dev);
  const [major, minor] = [(number >> 8n) & 0xfffn, (number & 0xffn) | ((number >> 12n) & 0xfff00n)];
  return [major, minor].map((each) => each.toString(16).padStart(2, '0')).join(':');
}

/** Devices of file systems in memory, as `maps` tells them. */
export function memoryDevices(mountinfo: string): ReadonlySet<string> {
  const lines = mountinfo.split('\n').map((line) => line.split(' '));
  const inMemory = lines.filter((words) => words[words.indexOf('-') + 1] === 'tmpfs');
  const hex = (number: string) => Number(number).toString(16).padStart(2, '0');
  return new Set(inMemory.map(([, , device = '']) => device.split(':').map(hex).join(':')));
}

const DELETED = ' (deleted)';
/** Where, which file, and what it was called. */
const DELETED_MAPPING = /^(\S+) \S+ \S+ (\S+) (\d+) +(.*) \(deleted\)$/gm;

/** Of what has no name in any folder. Shared memory without a file is told as a deleted /dev/zero. */
function isInMemory(name: string): boolean {
  return name.startsWith('/memfd:') || name.startsWith('/dev/zero') || name.startsWith('/SYSV');
}

function readTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** Another program may become one that we may not look into between two looks at it. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/**
 * Null for whoever is not root, and for a mapping that has ended. Opened first: a `stat` that is not permitted makes Node believe that
 * the system has no times of birth, for all files from then on, and those tell one file from another.
 */
function statOfMapped(path: string): Stats | null {
  let fd: number | null = null;
  try {
    fd = openSync(path, O_PATH);
    return fstatSync(fd);
  } catch {
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** Only to look at it. Node has no name for it. */
const O_PATH = 0o10000000;
