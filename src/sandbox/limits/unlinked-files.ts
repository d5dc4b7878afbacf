import { closeSync, fstatSync, openSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { readChunks, readText } from '../../host/files.ts';
import { isEnding, isSurvivor, survivorOf } from '../../host/proc.ts';

/** A file without a name that takes space as long as a process holds it. */
export interface UnlinkedFile {
  readonly dev: number;
  readonly bytes: number;
  readonly inMemory: boolean;
  /** False: it is only mapped, or is the program itself. */
  readonly isOpen: boolean;
}

export interface UnlinkedFiles {
  readonly files: readonly UnlinkedFile[];
  readonly sockets: number;
  /**
   * Whether there may be more than `files` lists: a process that cannot be inspected, such as one started from an unreadable
   * program, mappings that cannot be inspected, files in transit through a socket, or more than one scan has time for.
   */
  readonly unseen: { /** At most this many bytes. */ readonly inMemory: number; readonly onDisk: boolean };
  /** Devices of memory file systems with unseen files, in the form of `deviceOf`. */
  readonly unseenOn: ReadonlySet<string>;
}

/**
 * One scan takes at most this much processor time, since it blocks this process. Elapsed time would also count the work of
 * other programs: beside a busy machine a small scan would be cut off, and an innocent run ended for files nobody saw.
 */
const LOOK_MS = 50;
/** The share of the time that may go into scanning. */
const SHARE = 0.1;

/** Returns a scan of the unlinked files of one run's processes. It scans again only when the last scan was not too expensive. */
export function createUnlinkedFileScan(): (pids: readonly number[]) => UnlinkedFiles {
  let [last, nextMs]: [UnlinkedFiles | null, number] = [null, 0];
  return (pids) => {
    const startedAt = performance.now();
    if (last !== null && startedAt < nextMs) return last;
    last = findUnlinkedFiles(pids);
    const endedAt = performance.now();
    nextMs = endedAt + (endedAt - startedAt) / SHARE;
    return last;
  };
}

/** Finds the unlinked files that processes hold open or mapped, each once. */
export function findUnlinkedFiles(pids: readonly number[]): UnlinkedFiles {
  const until = processorMs() + LOOK_MS;
  const files = new Map<string, UnlinkedFile>();
  const sockets = new Set<string>();
  const missed = new Set<string>();
  const unseenOn = new Set<string>();
  /** Files in memory that a process has open: their size is known. */
  const open = new Set<string>();
  const unseen = { inMemory: 0, onDisk: false };
  for (const pid of pids) if (!isLate()) lookAt(pid, lookAtDescriptors);
  for (const pid of pids) if (!isLate()) lookAt(pid, lookAtMappings);
  return { files: [...files.values()], sockets: sockets.size, unseen, unseenOn };

  function isLate(): boolean {
    const late = processorMs() > until;
    if (late) missAll();
    return late;
  }

  function missAll(): void {
    unseen.inMemory = Number.POSITIVE_INFINITY;
    unseen.onDisk = true;
  }

  /** Ignores a process that is ending: only root can inspect it, and it holds nothing any more. */
  function missLiving(pid: number): void {
    if (!isEnding(pid)) missAll();
  }

  /** `look` returns whether it could read anything. */
  function lookAt(pid: number, look: (pid: number) => boolean): void {
    if (look(pid)) return;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const survivor = survivorOf(pid);
      if (survivor === null) return;
      look(survivor);
      // Otherwise it may have ended before everything was read.
      if (isSurvivor(pid, survivor)) return;
    }
    missAll();
  }

  function descriptorsOf(pid: number): string[] {
    try {
      return readdirSync(`/proc/${pid}/fd`);
    } catch (error) {
      if (isForbidden(error)) missLiving(pid);
      return [];
    }
  }

  function add(stat: Stats | null, inMemory: boolean, isOpen: boolean): boolean {
    const key = `${stat?.dev}:${stat?.ino}`;
    if (stat?.isFile() && files.get(key)?.isOpen !== true) {
      if (isOpen && inMemory) open.add(`${deviceOf(stat.dev)} ${stat.ino}`);
      files.set(key, { dev: stat.dev, bytes: stat.blocks * 512, inMemory, isOpen });
    }
    return stat !== null;
  }

  function lookAtDescriptors(pid: number): boolean {
    const names = descriptorsOf(pid);
    // A deleted program is held even where nothing of it is mapped any more.
    lookBehind(pid, 'exe', false);
    let isWhole = names.length > 0;
    for (const fd of names) {
      if (isLate()) break;
      const target = lookBehind(pid, `fd/${fd}`, true);
      if (target === null) isWhole = false;
      if (target?.startsWith('socket:') !== true || sockets.has(target)) continue;
      sockets.add(target);
      const carried = /^scm_fds: (\d+)/m.exec(readText(`/proc/${pid}/fdinfo/${fd}`) ?? '')?.[1] ?? '0';
      if (carried !== '0') missAll();
    }
    return isWhole || (names.length > 0 && !isEnding(pid));
  }

  /** Returns the target of the link, if it can be read. */
  function lookBehind(pid: number, name: string, isOpen: boolean): string | null {
    const link = `/proc/${pid}/${name}`;
    try {
      const target = readlinkSync(link);
      if (target.endsWith(DELETED)) add(statOf(link), isInMemory(target), isOpen);
      return target;
    } catch (error) {
      if (!isGone(error)) lookBehindUnreadable(pid, link, isOpen);
      return null;
    }
  }

  /** Handles a path that is longer than the system reports. */
  function lookBehindUnreadable(pid: number, link: string, isOpen: boolean): void {
    const stat = statOfOpened(link);
    if (stat === null) missLiving(pid);
    else if (stat.nlink === 0) add(stat, false, isOpen);
  }

  function lookAtMappings(pid: number): boolean {
    const devices = lazily(() => memoryDevices(readText(`/proc/${pid}/mountinfo`) ?? ''));
    let [rest, length] = ['', 0];
    for (const part of mapsOf(pid)) {
      length += part.length;
      if (length > MAX_MAPS_LENGTH) missAll();
      if (length > MAX_MAPS_LENGTH || isLate()) break;
      const text = rest + part;
      const end = text.lastIndexOf('\n') + 1;
      rest = text.slice(end);
      if (text.includes(DELETED)) lookAtDeleted(pid, text.slice(0, end), devices);
    }
    return length > 0;
  }

  function lookAtDeleted(pid: number, lines: string, devices: () => ReadonlySet<string>): void {
    for (const [, range = '', device = '', inode = '', name = ''] of lines.matchAll(DELETED_MAPPING)) {
      if (isLate()) return;
      const stat = statOfOpened(`/proc/${pid}/map_files/${range}`);
      if (add(stat, isInMemory(name), false)) continue;
      if (!isInMemory(name) && !devices().has(device)) unseen.onDisk = true;
      else if (open.has(`${device} ${inode}`)) continue;
      else if (name.startsWith('/memfd:')) missMapped(`${device} ${inode}`, Number.POSITIVE_INFINITY);
      else missMapped(`${device} ${inode} ${range}`, lengthOf(range));
      unseenOn.add(device);
    }
  }

  /** Counts a file mapped by several processes once. */
  function missMapped(key: string, bytes: number): void {
    if (missed.has(key)) return;
    missed.add(key);
    unseen.inMemory += bytes;
  }
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** How many other threads are tried in place of the first one. */
const ATTEMPTS = 8;
/** Enough for tens of thousands of mappings. A run can make a single line of any length. */
const MAX_MAPS_LENGTH = 4 * 1024 * 1024;

/** The lines of /proc/PID/maps. None for a process that is gone or cannot be inspected: its descriptors have shown that already. */
function* mapsOf(pid: number): Generator<string> {
  try {
    yield* readChunks(`/proc/${pid}/maps`);
  } catch {}
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The length of a mapping in /proc/PID/maps. */
function lengthOf(range: string): number {
  const [from = '0', to = '0'] = range.split('-');
  return Number(BigInt(`0x${to}`) - BigInt(`0x${from}`));
}

/** A device number in the form of /proc/PID/maps. */
export function deviceOf(dev: number): string {
  const number = BigInt(dev);
  const [major, minor] = [(number >> 8n) & 0xfffn, (number & 0xffn) | ((number >> 12n) & 0xfff00n)];
  return [major, minor].map((each) => each.toString(16).padStart(2, '0')).join(':');
}

/** Devices of memory file systems, in the form of /proc/PID/maps. */
export function memoryDevices(mountinfo: string): ReadonlySet<string> {
  const lines = mountinfo.split('\n').map((line) => line.split(' '));
  const inMemory = lines.filter((words) => words[words.indexOf('-') + 1] === 'tmpfs');
  const hex = (number: string) => Number(number).toString(16).padStart(2, '0');
  return new Set(inMemory.map(([, , device = '']) => device.split(':').map(hex).join(':')));
}

const DELETED = ' (deleted)';
/** Captures the range, the device, the inode and the former name. */
const DELETED_MAPPING = /^(\S+) \S+ \S+ (\S+) (\d+) +(.*) \(deleted\)$/gm;

/** Whether a former name belongs to memory. Shared memory without a file shows as a deleted /dev/zero. */
function isInMemory(name: string): boolean {
  return name.startsWith('/memfd:') || name.startsWith('/dev/zero') || name.startsWith('/SYSV');
}

function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(errnoOf(error) ?? '');
}

function isGone(error: unknown): boolean {
  return ['ENOENT', 'ESRCH'].includes(errnoOf(error) ?? '');
}

/** Null when the process became a program that cannot be inspected. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/**
 * Null for a mapping when this process is not root, and when the process has ended. The file is opened first: a forbidden
 * `stat` makes Node assume for all later files that the system has no birth times, which tell one file from another.
 */
function statOfOpened(path: string): Stats | null {
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

/** Opens a file only for `stat`. Node has no constant for it. */
const O_PATH = 0o10000000;
