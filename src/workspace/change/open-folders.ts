import { chmodSync, fstatSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { catchErrno } from '../../host/errno.ts';
import { Folder } from '../../host/folder.ts';
import { parsePath } from '../../host/parse-path.ts';
import { discardTree, typeOf } from '../../host/visit-tree.ts';
import { missingPathOf } from '../../host/walk-path.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { EntryKind } from '../../kernel/world/file-policy.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import { conflictAt } from './expectation.ts';

/** A name in an open folder that lies exactly where the path says: no symlink was followed. */
export interface ExactPath {
  readonly folder: Folder;
  readonly name: string;
  readonly path: string;
  /** Of the name itself; null when nothing is there. */
  readonly stat: Stats | null;
}

const MAX_OPEN = 64;
/** Stands for any name in a folder that is looked up itself. */
const PROBE = '.toolwright-probe';
const PERMISSIONS = 0o7777;
const ALL_OF_OWNER = 0o700;

/**
 * Looks up the paths of one set of changes, and keeps the folders open that it used last: thousands of changes are mostly
 * in few folders. A folder of an answer stays open until some other paths were looked up, so look it up again after a wait.
 */
export class OpenFolders {
  readonly #root: WorkspaceRoot;
  readonly #inside = new Map<string, Folder>();
  readonly #staged = new Map<string, Folder>();
  readonly #stats = new Map<string, Stats | null>();
  /** Folders of the stage that were opened up, with their permissions. */
  readonly #closed = new Map<string, number>();

  constructor(root: WorkspaceRoot) {
    this.#root = root;
  }

  /**
   * FILE_NOT_FOUND when a folder above is missing, CONFLICT when one became a symlink or a file. `becomes`: what is to be put
   * there, if nothing is there yet.
   */
  find(given: string, becomes?: EntryKind): Result<ExactPath> {
    const names = parsePath(given, this.#root.names);
    if (!names.ok) return names;
    const path = names.value.join('/');
    const name = names.value.at(-1);
    if (name === undefined) return fail('PERMISSION_DENIED', 'The workspace itself cannot be changed.');
    const above = path.slice(0, Math.max(0, path.length - name.length - 1));
    const known = this.#inside.get(above);
    if (known?.isInPlace()) {
      return catchErrno(path, () => {
        const stat = known.stat(name);
        const refused = this.#root.refuses(path, stat === null ? becomes : typeOf(stat));
        return refused.ok ? ok({ folder: known, name, path, stat }) : refused;
      });
    }
    const located = this.#root.locate(path, { last: 'keep', becomes });
    if (!located.ok) return leadsElsewhere(located, path) ? elsewhere(path) : located;
    const { folder, stat } = located.value;
    if (located.value.path === path) {
      keep(this.#inside, above, folder);
      return ok({ folder, name, path, stat });
    }
    folder.close();
    return elsewhere(path);
  }

  /** The same for a path that was looked up before, without a look at what is there now. */
  findPlace(path: string, becomes?: EntryKind): Result<Omit<ExactPath, 'stat'>> {
    const name = basename(path);
    const known = this.#inside.get(path.slice(0, Math.max(0, path.length - name.length - 1)));
    return known?.isInPlace() ? ok({ folder: known, name, path }) : this.find(path, becomes);
  }

  /** Of a folder as it was when it was first asked for; null when it is not there. */
  statFolder(path: string): Stats | null {
    const known = this.#stats.get(path);
    if (known !== undefined) return known;
    const found = this.findPlace(path === '' ? PROBE : `${path}/${PROBE}`);
    const stat = found.ok ? found.value.folder.stat('') : null;
    this.#stats.set(path, stat);
    return stat;
  }

  /** The same where something must be: CONFLICT when it is gone. */
  findExisting(given: string): Result<ExactPath & { readonly stat: Stats }> {
    const found = this.find(given);
    if (!found.ok) return found.error.code === 'FILE_NOT_FOUND' ? conflictAt(given, 'is gone') : found;
    const { stat, path } = found.value;
    return stat === null ? conflictAt(path, 'is gone') : ok({ ...found.value, stat });
  }

  /** Throws what the system throws when its folder is not there. */
  staged(from: string): Omit<ExactPath, 'path'> {
    const [above, name] = [dirname(from), basename(from)];
    const known = this.#staged.get(above);
    const folder = known ?? this.#openStaged(above);
    if (known === undefined) keep(this.#staged, above, folder);
    return { folder, name, stat: folder.stat(name) };
  }

  /** A command may have taken the permissions of a folder away. It is ours in the stage, and has them until all is done. */
  #openStaged(above: string): Folder {
    const folder = Folder.open(above);
    const { mode, uid } = fstatSync(folder.fd);
    if ((mode & ALL_OF_OWNER) !== ALL_OF_OWNER && uid === process.geteuid?.()) {
      folder.setMode((mode & PERMISSIONS) | ALL_OF_OWNER);
      this.#closed.set(above, mode & PERMISSIONS);
    }
    return folder;
  }

  /** Removes a copy that is not needed, also when its folder was moved meanwhile. */
  discard(path: string): void {
    const name = basename(path);
    const known = this.#inside.get(path.slice(0, Math.max(0, path.length - name.length - 1)));
    if (known !== undefined) discardTree(known, name);
    const found = known === undefined ? this.find(path) : undefined;
    if (found?.ok) discardTree(found.value.folder, name);
  }

  close(): void {
    for (const [path, mode] of this.#closed) chmodSync(path, mode);
    this.#closed.clear();
    for (const folders of [this.#inside, this.#staged]) {
      for (const folder of folders.values()) folder.close();
      folders.clear();
    }
  }
}

function keep(folders: Map<string, Folder>, path: string, folder: Folder): void {
  folders.get(path)?.close();
  folders.delete(path);
  folders.set(path, folder);
  const [oldest] = folders;
  if (folders.size <= MAX_OPEN || oldest === undefined) return;
  folders.delete(oldest[0]);
  oldest[1].close();
}

function leadsElsewhere(failure: Result<never>, path: string): boolean {
  if (failure.ok) return false;
  const wouldBe = missingPathOf(failure)?.path;
  return failure.error.code === 'INVALID_PATH' || (wouldBe !== undefined && wouldBe !== path);
}

function elsewhere(path: string): Result<never> {
  return conflictAt(path, 'leads elsewhere by now: a folder above it was replaced');
}
