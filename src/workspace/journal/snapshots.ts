import { linkSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { digestOf, digestsOf } from '../../host/file-version.ts';
import { Folder } from '../../host/folder.ts';
import { INDEX_NAME } from '../../host/git-index.ts';
import { discardTree } from '../../host/visit-tree.ts';
import type { ResolvedPath } from '../../host/walk-path.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Snapshot } from './change-set.ts';
import { forgetOldest } from './forget-oldest.ts';

/** Largest file that is copied when it cannot be kept by a link. */
const MAX_COPY_BYTES = 64 * 1024 * 1024;

/** Files as they were before calls changed them. */
export class SnapshotStore {
  readonly folder: Folder;

  /** The folder is there already. */
  constructor(path: string) {
    this.folder = Folder.openShared(path);
  }

  /** Keeps a file that is about to be replaced: by another name where that works, else by its bytes if they are known. */
  keep({ folder, name, stat }: ResolvedPath, bytes: Buffer | null, digest: string | null): Snapshot | null {
    if (stat === null) return null;
    const about = { digest, size: stat.size, mode: stat.mode, uid: stat.uid, gid: stat.gid };
    if (stat.isSymbolicLink()) return { by: 'target', name: folder.readLink(name), ...about };
    const image = digest ?? `${stat.dev}-${stat.ino}-${Math.round(stat.mtimeMs)}`;
    try {
      linkSync(folder.at(name), this.folder.at(image));
      return { by: 'link', name: image, ...about };
    } catch (thrown) {
      if (errnoOf(thrown) === 'EEXIST' && this.folder.stat(image)?.size === stat.size) {
        return { by: 'link', name: image, ...about };
      }
      if (errnoOf(thrown) === undefined) throw thrown;
    }
    if (bytes === null || bytes.length > MAX_COPY_BYTES) return null;
    const copy = `${image}.copy`;
    writeFileSync(this.folder.at(`${copy}.new`), bytes, { mode: 0o600 });
    renameSync(this.folder.at(`${copy}.new`), this.folder.at(copy));
    return { by: 'copy', name: copy, ...about };
  }

  /** The bytes of a kept file. CONFLICT when they changed: a program that had the file open could write to it. */
  bytesOf(image: Snapshot): Result<Buffer> {
    const kept = this.#readImage(image.name);
    if (!kept.ok || image.digest === null || digestOf(kept.value) === image.digest) return kept;
    return fail('CONFLICT', 'What stood there before was changed since it was kept, so it cannot be restored.');
  }

  /** Whether this is the kept file under its old name again: itself, or a copy of its bytes. */
  isBackAs(image: Snapshot, now: { readonly inode: number; readonly digests: readonly string[] }): boolean {
    const [exact] = now.digests;
    const isInode = image.digest === null || exact === undefined;
    if (isInode && this.folder.stat(image.name)?.ino === now.inode) return true;
    if (exact === undefined || exact === image.digest) return exact !== undefined;
    const bytes = this.bytesOf(image);
    return bytes.ok && digestsOf(INDEX_NAME, bytes.value).some((digest) => now.digests.includes(digest));
  }

  /** Removes the oldest snapshots while all of them take more than `maxBytes`. A file that cannot be removed stays. */
  prune(maxBytes: number): void {
    const kept = readdirSync(this.folder.at('')).map((name) => {
      const stat = this.folder.stat(name);
      return { name, bytes: treeBytes(name) ?? stat?.size ?? 0, atMs: stat?.ctimeMs ?? 0 };
    });
    forgetOldest(kept, maxBytes, (name) => discardTree(this.folder, name));
  }

  dispose(): void {
    this.folder.dispose();
  }

  #readImage(name: string): Result<Buffer> {
    try {
      const stat = this.folder.stat(name);
      if (stat === null || !stat.isFile()) return fail('FILE_NOT_FOUND', 'What stood there before is no longer kept.');
      if (stat.size > MAX_COPY_BYTES) {
        return fail('TOO_LARGE', 'What stood there before is too large to be copied back.');
      }
      return ok(readFileSync(this.folder.at(name)));
    } catch {
      return fail('FILE_NOT_FOUND', 'What stood there before is no longer kept.');
    }
  }
}

/** The name of a deleted tree holds its size, so that the tree is not walked again to learn it. */
export function treeName(temp: string, bytes: number): string {
  return `${temp}.${bytes}.tree`;
}

function treeBytes(name: string): number | null {
  const bytes = /\.(\d+)\.tree$/.exec(name)?.[1];
  return bytes === undefined ? null : Number(bytes);
}
