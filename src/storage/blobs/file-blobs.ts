import { hash, randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, stat, unlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { makeDurableFolder } from '../../host/private-folder.ts';
import { StoreError } from '../../kernel/call/store-error.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { ok, type Result } from '../../kernel/result.ts';
import { damagedBlob, type SweepableBlobs, unknownBlob } from '../engine.ts';

const HANDLE = /^[0-9a-f]{64}$/;
const TEMPORARY = '.new-';

/** Stores blobs as files named by the hash of their content: `ab/abcd…`. A blob is durable when `put` has resolved. */
export class FileBlobs implements SweepableBlobs {
  readonly #folder: string;
  readonly #now: () => number;
  /** Sub-directories that this process has created durably or seen synced. */
  readonly #settled = new Set<string>();

  /** `now` is the clock of `before` in `sweep`. Files are stamped with it, because the wall clock may be set. */
  constructor(folder: string, now: () => number = Date.now) {
    this.#folder = folder;
    this.#now = now;
    makeDurableFolder(folder);
  }

  async put(bytes: Uint8Array): Promise<string> {
    const handle = hash('sha256', bytes, 'hex');
    const path = this.#path(handle);
    try {
      if (await this.#isKept(handle, path)) return handle;
      await this.#write(path, bytes);
      return handle;
    } catch (error) {
      throw blobTrouble(error);
    }
  }

  async get(handle: string): Promise<Result<Uint8Array>> {
    if (!HANDLE.test(handle)) return unknownBlob(handle);
    try {
      const bytes = await readFile(this.#path(handle));
      if (hash('sha256', bytes, 'hex') === handle) return ok(bytes);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw blobTrouble(error);
      return unknownBlob(handle);
    }
    return damagedBlob(handle);
  }

  async sweep(used: ReadonlySet<string>, before: number): Promise<number> {
    let removed = 0;
    for await (const { path, handle } of this.#files()) {
      if (handle !== undefined && used.has(handle)) continue;
      if ((await removeIfOlder(path, before)) && handle !== undefined) removed++;
    }
    return removed;
  }

  async remove(handles: Iterable<string>, before: number): Promise<number> {
    let removed = 0;
    for (const handle of handles) {
      if (HANDLE.test(handle) && (await removeIfOlder(this.#path(handle), before))) removed++;
    }
    return removed;
  }

  async sizes(): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>();
    for await (const { path, handle } of this.#files()) {
      const found = handle === undefined ? undefined : await stat(path).catch(() => undefined);
      if (handle !== undefined && found !== undefined) sizes.set(handle, found.size);
    }
    return sizes;
  }

  /**
   * Yields blobs, and temporary files left by a crash without a handle. Skips foreign files; other processes may sweep
   * at the same time.
   */
  async *#files(): AsyncGenerator<{ path: string; handle: string | undefined }> {
    for (const name of (await readdir(this.#folder)).filter((one) => /^[0-9a-f]{2}$/.test(one))) {
      const folder = join(this.#folder, name);
      for (const file of await readdir(folder).catch(() => [])) {
        if (HANDLE.test(file)) yield { path: join(folder, file), handle: file };
        else if (file.startsWith(TEMPORARY)) yield { path: join(folder, file), handle: undefined };
      }
    }
  }

  /** Returns whether the blob exists undamaged, and touches it, so that a sweep counts it as recent. */
  async #isKept(handle: string, path: string): Promise<boolean> {
    const known = await readFile(path).catch(() => undefined);
    if (known === undefined || hash('sha256', known, 'hex') !== handle) return false;
    const now = new Date(this.#now());
    await utimes(path, now, now);
    // The process that wrote the blob may not have synced it yet, and `put` promises that it is durable.
    await sync(path);
    await sync(dirname(path));
    this.#settle(dirname(path));
    return true;
  }

  /**
   * Writes and syncs a temporary file, renames it, syncs the directory: after a power cut the blob is whole or absent.
   */
  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const folder = dirname(path);
    this.#settle(folder);
    const temporary = join(folder, `${TEMPORARY}${randomUUID()}`);
    try {
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(bytes);
        const now = new Date(this.#now());
        await file.utimes(now, now);
        await file.sync();
      } finally {
        await file.close();
      }
      failpoint('blob.before_rename');
      await rename(temporary, path);
      failpoint('blob.after_rename');
    } catch (error) {
      await unlink(temporary).catch(() => {});
      throw error;
    }
    await sync(folder);
  }

  #settle(folder: string): void {
    if (this.#settled.has(folder)) return;
    makeDurableFolder(folder);
    this.#settled.add(folder);
  }

  #path(handle: string): string {
    return join(this.#folder, handle.slice(0, 2), handle);
  }
}

async function removeIfOlder(path: string, before: number): Promise<boolean> {
  try {
    if ((await stat(path)).mtimeMs >= before) return false;
    await unlink(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw blobTrouble(error);
  }
}

async function sync(path: string): Promise<void> {
  const opened = await open(path, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

function blobTrouble(error: unknown): unknown {
  const code = errnoOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new StoreError(
      'full',
      'The store cannot be used: the disk is full. Free some space; the store then continues by itself.',
      error,
    );
  }
  return code === undefined ? error : new StoreError('failed', `The blob folder cannot be used (${code}).`, error);
}
