import { randomBytes } from 'node:crypto';
import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { BlobStore } from '../kernel/ports.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { ChangeSet, Image } from './change-set.ts';
import { errnoOf } from './errno.ts';
import { Folder } from './folder.ts';
import { isAlive, startOf } from './process-start.ts';
import { digestOf } from './version.ts';
import type { Spot } from './walk.ts';

export interface JournalOptions {
  /** Made if missing, readable by its owner only. On the workspace's file system, old files are kept without a copy. */
  readonly folder: string;
  readonly blobs: BlobStore;
  /** What old files may take together before the oldest change sets are forgotten. */
  readonly maxBytes?: number;
}

/** Largest file that is copied when it cannot be kept by a link. */
const MAX_COPY_BYTES = 64 * 1024 * 1024;
const DEFAULT_MAX_BYTES = 1024 * 1024 * 1024;
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
  readonly #blobs: BlobStore;
  readonly #maxBytes: number;
  readonly #owner = { pid: process.pid, started: startOf(process.pid) ?? '' };
  #log: number | undefined;

  constructor({ folder, blobs, maxBytes = DEFAULT_MAX_BYTES }: JournalOptions) {
    for (const name of ['logs', 'images']) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#blobs = blobs;
    this.#maxBytes = maxBytes;
    this.images = Folder.open(join(folder, 'images'));
  }

  newSet(given: Pick<ChangeSet, 'callId' | 'session' | 'root' | 'changes'>): ChangeSet {
    return { id: `${PROCESS}-${count++}`, ...given, at: Date.now(), owner: this.#owner };
  }

  begin(set: ChangeSet): void {
    this.#append({ begun: set });
  }

  commit({ id }: ChangeSet): void {
    this.#append({ done: id });
  }

  abandon({ id }: ChangeSet): void {
    this.#append({ dropped: id });
  }

  setUndone({ id }: ChangeSet): void {
    this.#append({ undone: id });
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
  async keep({ folder, name, stat }: Spot, bytes: Buffer | null, digest: string | null): Promise<Image | null> {
    if (stat === null) return null;
    const about = { digest, size: stat.size, mode: stat.mode };
    if (stat.isSymbolicLink()) return { by: 'target', name: folder.readLink(name), ...about };
    const image = digest ?? `${stat.dev}-${stat.ino}-${Math.round(stat.mtimeMs)}`;
    try {
      linkSync(folder.at(name), this.images.at(image));
      return { by: 'link', name: image, ...about };
    } catch (thrown) {
      if (errnoOf(thrown) === 'EEXIST') return { by: 'link', name: image, ...about };
      if (errnoOf(thrown) === undefined) throw thrown;
    }
    if (bytes === null || bytes.length > MAX_COPY_BYTES) return null;
    return { by: 'blob', name: await this.#blobs.put(bytes), ...about };
  }

  /** The bytes of a kept file, if they are still what they were: whoever had it open could write to it. */
  async bytesOf(image: Image): Promise<Result<Buffer>> {
    const kept = image.by === 'blob' ? await this.#blobs.get(image.name) : this.#readImage(image.name);
    if (!kept.ok) return kept;
    const bytes = Buffer.from(kept.value.buffer, kept.value.byteOffset, kept.value.byteLength);
    if (image.digest === null || digestOf(bytes) === image.digest) return ok(bytes);
    return fail('CONFLICT', 'What stood there before was changed since it was kept, so it cannot be restored.');
  }

  /** Forgets the oldest change sets while the kept files take more than they may. */
  prune(): void {
    const kept = readdirSync(this.images.at(''))
      .map((name) => ({ name, stat: this.images.stat(name) }))
      .sort((a, b) => (a.stat?.ctimeMs ?? 0) - (b.stat?.ctimeMs ?? 0));
    let total = kept.reduce((sum, { stat }) => sum + (stat?.size ?? 0), 0);
    for (const { name, stat } of kept) {
      if (total <= this.#maxBytes) return;
      rmSync(join(this.#folder, 'images', name), { recursive: true, force: true });
      total -= stat?.size ?? 0;
    }
  }

  close(): void {
    this.images.dispose();
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
  }

  /** Opened when first needed, so that looking at a journal leaves no file. */
  #append(entry: LogEntry): void {
    this.#log ??= openSync(join(this.#folder, 'logs', `${PROCESS}${count++}${OPEN}`), 'a', 0o600);
    writeSync(this.#log, `${JSON.stringify(entry)}\n`);
  }

  #readImage(name: string): Result<Buffer> {
    try {
      if (statSync(this.images.at(name)).size > MAX_COPY_BYTES) {
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

function numberOf(id: string): number {
  return Number(id.slice(id.lastIndexOf('-') + 1));
}
