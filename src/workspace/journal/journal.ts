import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, lstatSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { makePrivateFolder } from '../../host/private-folder.ts';
import { OWN_MARK, stateOfProcess } from '../../host/process-identity.ts';
import { writeAll } from '../change/copy-tree.ts';
import type { ChangeSet, RecordedChange, Snapshot } from './change-set.ts';
import { forgetOldest } from './forget-oldest.ts';
import { SnapshotStore } from './snapshots.ts';

export interface JournalOptions {
  /** Made if missing, readable by its owner only. On the workspace's file system, old files are kept without a copy. */
  readonly folder: string;
  /** Bytes that old files may take together before the oldest are forgotten. */
  readonly maxBytes?: number;
  /** False for one that only takes back what fails half way. Left out: true. */
  readonly lasts?: boolean;
}

const DEFAULT_MAX_BYTES = 1024 * 1024 * 1024;
/** Of all logs together that no process writes to any more. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;
/** A log that is longer is closed, and another one begun. */
const LONG_LOG_BYTES = 4 * 1024 * 1024;
/** Nobody here can see whether a process of another container still writes to its log. */
const UNTOUCHED_MS = 24 * 60 * 60 * 1000;
const PROCESS = randomBytes(6).toString('hex');
let count = 0;

/**
 * The state directory's memory of what calls changed. Each process appends to a log of its own: a change set before it
 * is made, and a mark when it is done; the old files are in `images/`. Nothing here is synced to disk on its
 * own: after a power cut a file is whole, but its undo may be gone.
 */
export class Journal {
  readonly snapshots: SnapshotStore;
  readonly #logs: string;
  readonly #maxBytes: number;
  readonly lasts: boolean;
  #log: { readonly fd: number; readonly path: string } | undefined;
  #logBytes = 0;
  /** The last line may be cut off: the disk was full. */
  #isTorn = false;
  /** Marks that could not be written when they were due. */
  #owed: LogEntry[] = [];
  /** Kept since it was last looked whether that is too much. */
  #newBytes = 0;

  constructor({ folder, maxBytes = DEFAULT_MAX_BYTES, lasts = true }: JournalOptions) {
    this.lasts = lasts;
    for (const name of ['logs', 'images']) makePrivateFolder(join(folder, name));
    this.#logs = join(folder, 'logs');
    this.#maxBytes = maxBytes;
    this.snapshots = new SnapshotStore(join(folder, 'images'));
  }

  newSet(given: Pick<ChangeSet, 'callId' | 'session' | 'root' | 'changes' | 'stage' | 'making' | 'temps'>): ChangeSet {
    return { id: `${PROCESS}-${count++}`, ...given, at: Date.now(), owner: OWN_MARK };
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

  /** Before anything of it is taken back. Throws what the system throws; then nothing may be. */
  beginUndo({ id }: ChangeSet): void {
    this.#append({ undoing: id });
  }

  setUndone({ id }: ChangeSet): void {
    this.#mark({ undone: id });
  }

  /** Of one call, oldest first. */
  done(callId: string): ChangeSet[] {
    return this.#setsBy('callId', callId).flatMap(({ set, state }) => (state === 'done' ? [set] : []));
  }

  wasUndone(callId: string): boolean {
    return this.#setsBy('callId', callId).some(({ state }) => state === 'undone');
  }

  /** By which pending changes were kept, also when that was undone. */
  keeping(stage: string): ChangeSet[] {
    return this.#setsBy('stage', stage).flatMap(({ set, state }) =>
      state === 'done' || state === 'undone' ? [set] : [],
    );
  }

  /** Sets that ended processes left in this workspace. Call it with the lock taken: then no process of another container is at work. */
  unfinished(root: string): ChangeSet[] {
    return this.#sets(this.#texts(OPEN)).flatMap(({ set, state }) => {
      return state === 'begun' && set.root === root && stateOfProcess(set.owner) !== 'runs' ? [set] : [];
    });
  }

  /**
   * Logs of processes that are gone and left nothing unfinished need not be looked through at every start. Processes in
   * other workspaces may do the same at the same time. A mark never goes before its set: a set
   * without its mark counts as unfinished.
   */
  settleLogs(): void {
    const texts = this.#texts(OPEN);
    const states = new Map(this.#sets(texts).map(({ set, state }) => [set.id, state]));
    for (const [name, text] of texts) {
      const entries = parseLog(text);
      const sets = entries.flatMap(({ begun }) => begun ?? []);
      if (sets.length === 0 || sets.some(({ id }) => states.get(id) === 'begun')) continue;
      const owners = new Set(sets.map(({ owner }) => stateOfProcess(owner)));
      if (owners.has('runs') || (owners.has('unknown') && this.#wasTouched(name))) continue;
      const own = new Set(sets.map(({ id }) => id));
      const marked = entries.flatMap(({ done, dropped, undone }) => done ?? dropped ?? undone ?? []);
      if (marked.every((id) => own.has(id) || !states.has(id))) this.#settle(name);
    }
  }

  #wasTouched(name: string): boolean {
    const stat = lstatSync(join(this.#logs, name), { throwIfNoEntry: false });
    return stat !== undefined && Date.now() - stat.mtimeMs < UNTOUCHED_MS;
  }

  #settle(name: string): void {
    try {
      renameSync(join(this.#logs, name), join(this.#logs, `${name.slice(0, -OPEN.length)}${SETTLED}`));
    } catch (thrown) {
      if (errnoOf(thrown) !== 'ENOENT') throw thrown;
    }
  }

  /** Forgets the oldest snapshots and settled logs while they take more than they may. */
  prune(): void {
    this.#newBytes = 0;
    this.snapshots.prune(this.#maxBytes);
    const logs = readdirSync(this.#logs).filter((name) => name.endsWith(SETTLED));
    const settled = logs.map((name) => {
      const stat = lstatSync(join(this.#logs, name), { throwIfNoEntry: false });
      return { name, bytes: stat?.size ?? 0, atMs: stat?.ctimeMs ?? 0 };
    });
    forgetOldest(settled, MAX_LOG_BYTES, (name) => rmSync(join(this.#logs, name), { force: true }));
  }

  close(): void {
    this.snapshots.dispose();
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

  /** Opened when first needed, so that looking at a journal leaves no file; anew when another container has settled it. */
  #append(entry: LogEntry): void {
    if (this.#log !== undefined && (this.#logBytes > LONG_LOG_BYTES || !existsSync(this.#log.path))) this.#closeLog();
    this.#log ??= this.#newLog();
    const lines = [...this.#owed, entry].map((each) => `${JSON.stringify(each)}\n`).join('');
    const bytes = Buffer.from(this.#isTorn ? `\n${lines}` : lines);
    this.#isTorn = true;
    writeAll(this.#log.fd, bytes);
    this.#isTorn = false;
    this.#owed = [];
    this.#logBytes += bytes.length;
  }

  #newLog() {
    const path = join(this.#logs, `${PROCESS}${count++}${OPEN}`);
    return { fd: openSync(path, 'a', 0o600), path };
  }

  #closeLog(): void {
    if (this.#log !== undefined) closeSync(this.#log.fd);
    this.#log = undefined;
    this.#logBytes = 0;
    this.#isTorn = false;
  }

  #setsBy(field: 'callId' | 'stage', id: string): KnownSet[] {
    const quoted = JSON.stringify(id);
    // In this order: one that is settled meanwhile is among the second.
    const texts = [...this.#texts(OPEN), ...this.#texts(SETTLED)];
    if (!texts.some(([, text]) => text.includes(quoted))) return [];
    return this.#sets(texts).filter(({ set }) => set[field] === id);
  }

  /** A mark may be in another log than its set: the process that recovers or undoes the set writes into its own log. */
  #sets(texts: readonly (readonly [string, string])[]): KnownSet[] {
    const known = new Map<string, KnownSet>();
    const entries = [...texts.flatMap(([, text]) => parseLog(text)), ...this.#owed];
    const undoing = new Set(entries.map((entry) => entry.undoing));
    for (const { begun } of entries) {
      if (begun === undefined) continue;
      const set = undoing.has(begun.id) ? { ...begun, undoing: true } : begun;
      known.set(begun.id, { set, state: 'begun' });
    }
    for (const state of ['done', 'dropped', 'undone'] as const) {
      for (const { [state]: id } of entries) {
        const set = id === undefined ? undefined : known.get(id)?.set;
        if (set !== undefined) known.set(set.id, { set, state });
      }
    }
    return [...known.values()].sort((a, b) => a.set.at - b.set.at || numberOf(a.set.id) - numberOf(b.set.id));
  }

  /** Without those that were settled or forgotten since they were listed. */
  #texts(ending: string): [name: string, text: string][] {
    const names = readdirSync(this.#logs).filter((name) => name.endsWith(ending));
    return names.flatMap((name): [string, string][] => {
      try {
        return [[name, readFileSync(join(this.#logs, name), 'utf8')]];
      } catch (thrown) {
        if (errnoOf(thrown) !== 'ENOENT') throw thrown;
        return [];
      }
    });
  }
}

interface LogEntry {
  readonly begun?: ChangeSet;
  readonly done?: string;
  readonly dropped?: string;
  readonly undoing?: string;
  readonly undone?: string;
}

interface KnownSet {
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

function imageOf(change: RecordedChange): Snapshot | null {
  switch (change.kind) {
    case 'write':
      return change.before;
    case 'delete':
      return change.image;
    case 'move':
    case 'take':
      return change.replaced;
    case 'mode':
      return null;
  }
}

function numberOf(id: string): number {
  return Number(id.slice(id.lastIndexOf('-') + 1));
}
