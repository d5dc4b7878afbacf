import { closeSync, fstatSync, openSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { partsOf, readText } from '../files.ts';
import { isEnding, isSurvivor, survivorOf } from '../../host/proc.ts';

/** A file without a name that takes room as long as a process holds it. */
export interface HeldFile {
  readonly dev: number;
  readonly bytes: number;
  readonly inMemory: boolean;
  /** Else it is only mapped, or the program itself. */
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
  for (const pid of pids) if (!isLate()) lookAt(pid, lookAtDescriptors);
  for (const pid of pids) if (!isLate()) lookAt(pid, lookAtMappings);
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

  /** What is ending is nobody's to look into, except root's, and holds nothing any more. */
  function missLiving(pid: number): void {
    if (!isEnding(pid)) missAll();
  }

  /** `look` says whether it was shown anything. */
  function lookAt(pid: number, look: (pid: number) => boolean): void {
    if (look(pid)) return;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const survivor = survivorOf(pid);
      if (survivor === null) return;
      look(survivor);
      // Else it may have ended before it had shown all.
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
    // A program that was deleted is held also where nothing of it is mapped any more.
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

  /** What the link says, if it can be read. */
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

  /** A path may be longer than the system tells. */
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
      if (length > MOST_MAPS) missAll();
      if (length > MOST_MAPS || isLate()) break;
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

  /** One that is mapped by several is one. */
  function missMapped(key: string, bytes: number): void {
    if (missed.has(key)) return;
    missed.add(key);
    unseen.inMemory += bytes;
  }
}

/** How often another thread is looked at in place of the first one. */
const ATTEMPTS = 8;
/** A program with tens of thousands of mappings has less; a run can make one line of it as long as it likes. */
const MOST_MAPS = 4 * 1024 * 1024;

/** None of what is gone, or of what we may not look into: its descriptors have told that. */
function* mapsOf(pid: number): Generator<string> {
  try {
    yield* partsOf(`/proc/${pid}/maps`);
  } catch {}
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
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

function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function isGone(error: unknown): boolean {
  return ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '');
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
 * Null of a mapping for whoever is not root, and when it has ended. Opened first: a `stat` that is not permitted makes Node believe that
 * the system has no times of birth, for all files from then on, and those tell one file from another.
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

/** Only to look at it. Node has no name for it. */
const O_PATH = 0o10000000;
