import { spawn } from 'node:child_process';
import { closeSync, constants, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { catchErrno } from '../../host/errno.ts';
import { entriesIn } from '../../host/files.ts';
import type { Folder } from '../../host/folder.ts';
import { typeOf } from '../../host/visit-tree.ts';
import { ok, type Result } from '../../kernel/result.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import { syncFolder } from './copy-tree.ts';

/** Up to here each file is synced on its own; above, a sync of the whole file system is quicker. */
const MAX_SINGLE_SYNCS = 16;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Brings the files and names of one set to the disk: one by one, or with one sync of their file systems at the end. */
export class SetSync {
  readonly #root: WorkspaceRoot;
  #files = 0;
  /** A folder on each file system, and all folders for systems without `sync -f`. */
  readonly #systems = new Map<number, string>();
  readonly #folders = new Set<string>();

  constructor(root: WorkspaceRoot) {
    this.#root = root;
  }

  /** Tells how many files come, before the first of them. */
  expect(files: number): void {
    this.#files += files;
  }

  get isLater(): boolean {
    return this.#files > MAX_SINGLE_SYNCS;
  }

  file(fd: number): void {
    if (!this.isLater) fsyncSync(fd);
  }

  /** A file, or a folder with everything below it, before it gets its name. */
  tree(folder: Folder, name: string): void {
    if (!this.isLater) syncBelow(folder.at(name));
  }

  folder(folder: Folder): void {
    if (!this.isLater) syncFolder(folder);
    if (!this.isLater || this.#folders.has(folder.path)) return;
    this.#folders.add(folder.path);
    const device = folder.stat('')?.dev;
    if (device !== undefined) this.#systems.set(device, join(this.#root.names.real, folder.path));
  }

  /** After the last change. A failure means that some of them may not outlast a power cut. */
  async finish(): Promise<Result<void>> {
    if (this.#systems.size === 0 || this.#root.isView || (await runSync([...this.#systems.values()])))
      return ok(undefined);
    return catchErrno('The workspace', () => {
      for (const path of this.#folders) syncBelow(join(this.#root.names.real, path));
      return ok(undefined);
    });
  }
}

/** False where there is no such command, or it failed. */
function runSync(paths: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('sync', ['-f', '--', ...paths], { stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

function syncBelow(path: string): void {
  const fd = openOrNull(path);
  if (fd === null) return;
  try {
    for (const entry of entriesIn(path)) if (typeOf(entry) !== 'other') syncBelow(join(path, entry.name));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Null for a symlink, whose target is in its folder, and for what may not be read. */
function openOrNull(path: string): number | null {
  try {
    return openSync(path, READ);
  } catch {
    return null;
  }
}
