import { randomBytes } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
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
 * The state directory's memory of what calls changed. A change set lies in `pending/` while it is made and in `done/`
 * afterwards; what stood there before lies in `images/`. Nothing here is synced to disk on its own: after a power cut
 * a file is whole, but its undo may be gone.
 */
export class Journal {
  readonly images: Folder;
  readonly #folder: string;
  readonly #blobs: BlobStore;
  readonly #maxBytes: number;
  readonly #started = startOf(process.pid) ?? '';

  constructor({ folder, blobs, maxBytes = DEFAULT_MAX_BYTES }: JournalOptions) {
    for (const name of ['pending', 'done', 'undone', 'images']) {
      mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    }
    this.#folder = folder;
    this.#blobs = blobs;
    this.#maxBytes = maxBytes;
    this.images = Folder.open(join(folder, 'images'));
  }

  get folder(): string {
    return this.#folder;
  }

  newSet(given: Pick<ChangeSet, 'callId' | 'session' | 'root' | 'changes'>): ChangeSet {
    const id = `${prefixOf(given.callId)}${String(count++).padStart(9, '0')}-${PROCESS}`;
    return { id, ...given, at: Date.now(), owner: { pid: process.pid, started: this.#started } };
  }

  begin(set: ChangeSet): void {
    writeFileSync(this.#file('pending', set.id), JSON.stringify(set), { mode: 0o600, flag: 'wx' });
  }

  commit({ id }: ChangeSet): void {
    renameSync(this.#file('pending', id), this.#file('done', id));
  }

  abandon({ id }: ChangeSet): void {
    rmSync(this.#file('pending', id), { force: true });
  }

  setUndone({ id }: ChangeSet): void {
    renameSync(this.#file('done', id), this.#file('undone', id));
  }

  /** Of one call, oldest first. */
  done(callId: string): ChangeSet[] {
    return this.#sets('done', prefixOf(callId)).filter((set) => set.callId === callId);
  }

  wasUndone(callId: string): boolean {
    return this.#sets('undone', prefixOf(callId)).some((set) => set.callId === callId);
  }

  /** Left behind in this workspace by processes that are gone. */
  unfinished(root: string): ChangeSet[] {
    return this.#sets('pending', '').filter((set) => set.root === root && !isAlive(set.owner));
  }

  /** Keeps a file that is about to be replaced: by another name where that works, else by its bytes if they are known. */
  async keep({ folder, name, stat }: Spot, bytes: Buffer | null, digest: string | null): Promise<Image | null> {
    if (stat === null) return null;
    const about = { digest, size: stat.size, mode: stat.mode };
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

  #sets(where: string, prefix: string): ChangeSet[] {
    return readdirSync(join(this.#folder, where))
      .filter((name) => name.startsWith(prefix) && name.endsWith('.json'))
      .sort()
      .flatMap((name) => this.#read(join(this.#folder, where, name)));
  }

  /** A set that was cut off while it was written describes a change that never began. */
  #read(file: string): ChangeSet[] {
    try {
      return [JSON.parse(readFileSync(file, 'utf8')) as ChangeSet];
    } catch (thrown) {
      if (thrown instanceof SyntaxError) unlinkSync(file);
      return [];
    }
  }

  #file(where: string, id: string): string {
    return join(this.#folder, where, `${id}.json`);
  }
}

function prefixOf(callId: string): string {
  return `${encodeURIComponent(callId).slice(0, 100)}.`;
}
