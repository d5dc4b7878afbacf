import { randomBytes } from 'node:crypto';
import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { ChangeSet, Image, Recorded } from './change-set.ts';
import { writeAll } from './copy-tree.ts';
import { errnoOf } from './errno.ts';
import { Folder } from './folder.ts';
import { isAlive, startOf } from './process-start.ts';
import { digestOf } from './version.ts';
import type { Spot } from './walk.ts';

export interface JournalOptions {
  /** Made if missing, readable by its owner only. On the workspace's file system, old files are kept without a copy. */
  readonly folder: string;
  /** What old files may take together before the oldest change sets are forgotten. */
  readonly maxBytes?: number;
  /** False for one that only takes back what fails half way. Left out: true. */
  readonly lasts?: boolean;
}

/** Largest file that is copied when it cannot be kept by a link. */
const MAX_COPY_BYTES = 64 * 1024 * 1024;
const DEFAULT_MAX_BYTES = 1024 * 1024 * 1024;
/** Of the logs that nobody writes to any more. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;
/** A log that is longer is closed, and another one begun. */
const LONG_LOG_BYTES = 4 * 1024 * 1024;
const PROCESS = randomBytes(6).toString('hex');
let count = 0;

/**
 * The state directory's memory of what calls changed. Each process appends to a log of its own: a change set before it
 * is made, and a mark when it is done; what stood there before lies in `images/`. Nothing here is synced to disk on its
 * own: after a power cut a file is whole, but its undo may be gone.
 */
export class Journal {
  readonly images: Folder;
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #owner = { pid: process.pid, started: startOf(process.pid) ?? '' };
  readonly lasts: boolean;
  #log: number | undefined;
  #logBytes = 0;
  /** The last line may be cut off: the disk was full. */
  #isTorn = false;
  /** Marks that could not be written when they were due. */
  #owed: LogEntry[] = [];
  /** Kept since it was last looked whether that is too much. */
  #newBytes = 0;

  constructor({ folder, maxBytes = DEFAULT_MAX_BYTES, lasts = true }: JournalOptions) {
    this.lasts = lasts;
    for (const name of ['logs', 'images']) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.images = Folder.open(join(folder, 'images'));
  }

  newSet(given: Pick<ChangeSet, 'callId' | 'session' | 'root' | 'changes' | 'making'>): ChangeSet {
    return { id: `${PROCESS}-${count++}`, ...given, at: Date.now(), owner: this.#owner };
  }

  /** Throws what the system throws; then nothing may be changed. */
  begin(set: ChangeSet): void {
    this.#append({ begun: set });
  }

  commit({ id, changes }: ChangeSet): void {
    this.#mark({ done: id });
    for (const change of changes) this.#newBytes += imageOf(change)?.size ?? 0;
    if (this.#newBytes > this.#maxBytes / 8) this.prune();
  }

  abandon({ id }: ChangeSet): void {
    this.#mark({ dropped: id });
  }

  setUndone({ id }: ChangeSet): void {
    this.#mark({ undone: id });
  }

  /** Of one call, oldest first. */
  done(callId: string): ChangeSet[] {
    return this.#setsOf(callId).flatMap(({ set, state }) => (state === 'done' ? [set] : []));
  }

  wasUndone(callId: string): boolean {
    return this.#setsOf(callId).some(({ state }) => state === 'undone');
  }

  /** Left behind in this workspace by processes that are gone. */
  unfinished(root: string): ChangeSet[] {
    return this.#sets(this.#texts(OPEN)).flatMap(({ set, state }) => {
      return state === 'begun' && set.root === root && !isAlive(set.owner) ? [set] : [];
    });
  }

  /** Logs of processes that are gone and left nothing unfinished need not be looked through at every start. */
  settleLogs(): void {
    const texts = this.#texts(OPEN);
    const states = new Map(this.#sets(texts).map(({ set, state }) => [set.id, state]));
    for (const [name, text] of texts) {
      const sets = parseLog(text).flatMap((entry) => (entry.begun === undefined ? [] : [entry.begun]));
      if (sets.some(({ id, owner }) => isAlive(owner) || states.get(id) === 'begun')) continue;
      if (sets.length > 0)
        renameSync(
          join(this.#folder, 'logs', name),
          join(this.#folder, 'logs', `${name.slice(0, -OPEN.length)}${SETTLED}`),
        );
    }
  }

  /** Keeps a file that is about to be replaced: by another name where that works, else by its bytes if they are known. */
  keep({ folder, name, stat }: Spot, bytes: Buffer | null, digest: string | null): Image | null {
    if (stat === null) return null;
    const about = { digest, size: stat.size, mode: stat.mode };
    if (stat.isSymbolicLink()) return { by: 'target', name: folder.readLink(name), ...about };
    const image = digest ?? `${stat.dev}-${stat.ino}-${Math.round(stat.mtimeMs)}`;
    try {
      linkSync(folder.at(name), this.images.at(image));
      return { by: 'link', name: image, ...about };
    } catch (thrown) {
      if (errnoOf(thrown) === 'EEXIST' && this.images.stat(image)?.size === stat.size) {
        return { by: 'link', name: image, ...about };
      }
      if (errnoOf(thrown) === undefined) throw thrown;
    }
    if (bytes === null || bytes.length > MAX_COPY_BYTES) return null;
    const copy = `${image}.copy`;
    writeFileSync(this.images.at(`${copy}.new`), bytes, { mode: 0o600 });
    renameSync(this.images.at(`${copy}.new`), this.images.at(copy));
    return { by: 'copy', name: copy, ...about };
  }

  /** The bytes of a kept file, if they are still what they were: whoever had it open could write to it. */
  bytesOf(image: Image): Result<Buffer> {
    const kept = this.#readImage(image.name);
    if (!kept.ok || image.digest === null || digestOf(kept.value) === image.digest) return kept;
    return fail('CONFLICT', 'What stood there before was changed since it was kept, so it cannot be restored.');
  }

  /** Forgets what was kept longest, while it is more than it may be. */
  prune(): void {
    this.#newBytes = 0;
    const images = readdirSync(this.images.at('')).map((name) => ({ name, stat: this.images.stat(name) }));
    forgetOldest(images, this.#maxBytes, (name) =>
      rmSync(join(this.#folder, 'images', name), { recursive: true, force: true }),
    );
    const logs = readdirSync(join(this.#folder, 'logs')).filter((name) => name.endsWith(SETTLED));
    const settled = logs.map((name) => ({ name, stat: statOrNull(join(this.#folder, 'logs', name)) }));
    forgetOldest(settled, MAX_LOG_BYTES, (name) => rmSync(join(this.#folder, 'logs', name), { force: true }));
  }

  close(): void {
    this.images.dispose();
    this.#closeLog();
  }

  /** The change is made by then, so a full disk must not turn it into a failure: it is written with the next line. */
  #mark(entry: LogEntry): void {
    try {
      this.#append(entry);
    } catch (thrown) {
      if (errnoOf(thrown) === undefined) throw thrown;
      this.#owed.push(entry);
    }
  }

  /** Opened when first needed, so that looking at a journal leaves no file. */
  #append(entry: LogEntry): void {
    if (this.#log !== undefined && this.#logBytes > LONG_LOG_BYTES) this.#closeLog();
    this.#log ??= openSync(join(this.#folder, 'logs', `${PROCESS}${count++}${OPEN}`), 'a', 0o600);
    const lines = [...this.#owed, entry].map((each) => `${JSON.stringify(each)}\n`).join('');
    const bytes = Buffer.from(this.#isTorn ? `\n${lines}` : lines);
    this.#isTorn = true;
    writeAll(this.#log, bytes);
    this.#isTorn = false;
    this.#owed = [];
    this.#logBytes += bytes.length;
  }

  #closeLog(): void {
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
    this.#logBytes = 0;
    this.#isTorn = false;
  }

  #readImage(name: string): Result<Buffer> {
    try {
      const stat = this.images.stat(name);
      if (stat === null || !stat.isFile()) return fail('FILE_NOT_FOUND', 'What stood there before is no longer kept.');
      if (stat.size > MAX_COPY_BYTES) {
        return fail('TOO_LARGE', 'What stood there before is too large to be copied back.');
      }
      return ok(readFileSync(this.images.at(name)));
    } catch {
      return fail('FILE_NOT_FOUND', 'What stood there before is no longer kept.');
    }
  }

  #setsOf(callId: string): Known[] {
    const quoted = JSON.stringify(callId);
    const texts = [...this.#texts(OPEN), ...this.#texts(SETTLED)];
    if (!texts.some(([, text]) => text.includes(quoted))) return [];
    return this.#sets(texts).filter(({ set }) => set.callId === callId);
  }

  /** Marks may stand in another log than the set: whoever recovers or undoes it writes into its own. */
  #sets(texts: readonly (readonly [string, string])[]): Known[] {
    const known = new Map<string, Known>();
    const entries = texts.flatMap(([, text]) => parseLog(text));
    for (const { begun } of entries) if (begun !== undefined) known.set(begun.id, { set: begun, state: 'begun' });
    for (const state of ['done', 'dropped', 'undone'] as const) {
      for (const { [state]: id } of entries) {
        const set = id === undefined ? undefined : known.get(id)?.set;
        if (set !== undefined) known.set(set.id, { set, state });
      }
    }
    return [...known.values()].sort((a, b) => a.set.at - b.set.at || numberOf(a.set.id) - numberOf(b.set.id));
  }

  #texts(ending: string): [name: string, text: string][] {
    const logs = join(this.#folder, 'logs');
    return readdirSync(logs)
      .filter((name) => name.endsWith(ending))
      .map((name) => [name, readFileSync(join(logs, name), 'utf8')]);
  }
}

interface LogEntry {
  readonly begun?: ChangeSet;
  readonly done?: string;
  readonly dropped?: string;
  readonly undone?: string;
}

interface Known {
  readonly set: ChangeSet;
  readonly state: 'begun' | 'done' | 'dropped' | 'undone';
}

const OPEN = '.open.jsonl';
const SETTLED = '.settled.jsonl';

/** A line that was cut off when its process died describes a change that never began. */
function parseLog(text: string): LogEntry[] {
  return text.split('\n').flatMap((line): LogEntry[] => {
    try {
      return line === '' ? [] : [JSON.parse(line) as LogEntry];
    } catch {
      return [];
    }
  });
}

/** A deleted tree is named by what it takes, so that nobody need look through it again to know. */
export function treeName(temp: string, bytes: number): string {
  return `${temp}.${bytes}.tree`;
}

function forgetOldest(
  kept: readonly { name: string; stat: Stats | null }[],
  maxBytes: number,
  forget: (name: string) => void,
): void {
  const sized = kept.map(({ name, stat }) => ({
    name,
    bytes: Number(/\.(\d+)\.tree$/.exec(name)?.[1] ?? stat?.size ?? 0),
    at: stat?.ctimeMs ?? 0,
  }));
  let total = sized.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { name, bytes } of sized.sort((a, b) => a.at - b.at)) {
    if (total <= maxBytes) return;
    forget(name);
    total -= bytes;
  }
}

function imageOf(change: Recorded): Image | null {
  if (change.kind === 'write') return change.before;
  return change.kind === 'delete' ? change.image : change.replaced;
}

function statOrNull(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

function numberOf(id: string): number {
  return Number(id.slice(id.lastIndexOf('-') + 1));
}
