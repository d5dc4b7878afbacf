import { closeSync, type FSWatcher, type Stats, statfsSync, watch, writeSync } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { createUnlinkedFile } from '../../host/files.ts';

/** The entries of a folder that may be different, by their names, and whether some came or went. */
export interface FolderChanges {
  readonly names: ReadonlySet<string>;
  readonly isListChanged: boolean;
}

/**
 * Events of the system about the entries of folders. An edit counts from the moment at which its system call has returned, though its
 * event comes later: `settle` waits for it.
 */
export interface ChangeEvents {
  /** Watches an open folder under its path; `at` is its path by the descriptor. */
  watch(path: string, at: string, stat: Stats): void;
  /** Whether all changes of its entries are told. */
  isWatched(path: string, inode: number): boolean;
  /** Forgets the folder. */
  drop(path: string): void;
  /** Waits for the events of all edits made before. False when some may be lost: then every entry has to be looked at. */
  settle(): Promise<boolean>;
  /** The changes in a folder since the last time; null when there are none. */
  take(path: string): FolderChanges | null;
  /** Folders that the system does not allow to be watched, because too many are. */
  readonly refused: number;
  close(): void;
}

/**
 * File systems whose changes all pass this kernel. Of others, such as those of a network, a virtual machine or a program, an edit
 * on the other side comes without an event.
 */
const LOCAL = new Set([
  ...[0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e],
  ...[0x52654973, 0x3153464a, 0x4d44, 0x2011bab0, 0x5346544e, 0x7366746e],
]);
const COOKIE_MS = 2_000;
/** The queue of the system holds 16,384 events, and drops further ones in silence. All that it holds come in one turn of the event loop. */
const MAX_IN_TURN = 4_000;

interface WatchedFolder {
  readonly inode: number;
  readonly watcher: FSWatcher;
}

interface NoticedChanges {
  readonly names: Set<string>;
  isListChanged: boolean;
}

/** `folder` takes a file without a name. All watches of a process share one queue of the system, in the order of the edits. */
export function createChangeEvents(folder: string): ChangeEvents {
  const watched = new Map<string, WatchedFolder>();
  const noticed = new Map<string, NoticedChanges>();
  const local = new Map<number, boolean>();
  let [inTurn, isFlooded, refused] = [0, false, 0];
  let cookie: Cookie | null | undefined;

  function count(): void {
    if (inTurn++ === 0) {
      setImmediate(() => {
        inTurn = 0;
      }).unref();
    }
    if (inTurn > MAX_IN_TURN) isFlooded = true;
  }

  function notice(path: string, event: string, name: string | null): void {
    count();
    const changes = noticed.get(path) ?? { names: new Set(), isListChanged: false };
    noticed.set(path, changes);
    if (name === null || event !== 'change') changes.isListChanged = true;
    if (name !== null) changes.names.add(name);
  }

  function drop(path: string): void {
    watched.get(path)?.watcher.close();
    watched.delete(path);
  }

  return {
    watch(path, at, { ino, dev }) {
      if (watched.get(path)?.inode === ino) return;
      drop(path);
      if (!isLocal(local, dev, at)) return;
      try {
        const watcher = watch(at, { persistent: false }, (event, name) => notice(path, event, name));
        watcher.on('error', () => drop(path));
        watched.set(path, { inode: ino, watcher });
      } catch (error) {
        const errno = errnoOf(error);
        if (errno === undefined) throw error;
        if (errno === 'ENOSPC' || errno === 'EMFILE') refused++;
      }
    },
    isWatched: (path, inode) => watched.get(path)?.inode === inode,
    drop(path) {
      drop(path);
      noticed.delete(path);
    },
    async settle() {
      if (watched.size === 0) return true;
      cookie ??= openCookie(folder);
      const asked = cookie;
      const hasCome = (await asked?.pass()) === true;
      // A late event of this one would answer the next question.
      if (!hasCome && cookie === asked) {
        asked?.close();
        cookie = undefined;
      }
      const isSettled = hasCome && !isFlooded;
      isFlooded = false;
      return isSettled;
    },
    take(path) {
      const changes = noticed.get(path) ?? null;
      noticed.delete(path);
      return changes;
    },
    get refused() {
      return refused;
    },
    close() {
      for (const path of [...watched.keys()]) drop(path);
      cookie?.close();
      cookie = null;
    },
  };
}

/** Where folders have no path by their descriptor there is no such queue either. */
function isLocal(known: Map<number, boolean>, device: number, at: string): boolean {
  let answer = known.get(device);
  if (answer === undefined) {
    answer = process.platform === 'linux' && at.startsWith('/proc/self/fd/') && LOCAL.has(statfsSync(at).type);
    known.set(device, answer);
  }
  return answer;
}

/** A file without a name: the event of a write to it comes after those of all earlier edits. */
interface Cookie {
  /** True when the event came. */
  pass(): Promise<boolean>;
  close(): void;
}

/** Null where it cannot be watched. One write is on its way at a time, so that no event answers a later question. */
function openCookie(folder: string): Cookie | null {
  let turn: Promise<boolean> = Promise.resolve(true);
  let waiting: Promise<boolean> | null = null;
  let answer: ((came: boolean) => void) | null = null;
  let file: number;
  let watcher: FSWatcher;
  try {
    file = createUnlinkedFile(folder);
    watcher = watch(`/proc/self/fd/${file}`, { persistent: false }, () => answer?.(true));
    watcher.on('error', () => answer?.(false));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return null;
  }

  async function ask(): Promise<boolean> {
    if (isClosed) return false;
    const came = new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    const timer = setTimeout(() => answer?.(false), COOKIE_MS);
    writeSync(file, '.', 0);
    try {
      return await came;
    } finally {
      clearTimeout(timer);
      answer = null;
    }
  }

  let isClosed = false;
  return {
    pass() {
      if (isClosed) return Promise.resolve(false);
      waiting ??= turn.then(() => {
        waiting = null;
        turn = ask();
        return turn;
      });
      return waiting;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      answer?.(false);
      watcher.close();
      closeSync(file);
    },
  };
}
