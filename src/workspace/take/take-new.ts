import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { catchErrno, catchErrnoAsync, errnoOf } from '../../host/errno.ts';
import type { Folder } from '../../host/folder.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { ok, type Result } from '../../kernel/result.ts';
import { copyTree } from '../change/copy-tree.ts';
import { alteredAt, conflictAt, isSame, readVersion } from '../change/expectation.ts';
import { renameToFree } from '../change/move-name.ts';
import { type PreparedChange, type SetScope, tempName, type Writer } from '../change/prepared-change.ts';
import { removeCreatedFolders } from '../change/remove-created-folders.ts';
import type { RecordedTake } from '../journal/change-set.ts';
import type { CheckedTake, TakeChange, TakenPlace } from './checked-take.ts';
import { dropSetId } from './staged-source.ts';

interface NewTake extends CheckedTake {
  readonly place: TakenPlace;
}

/**
 * A new file, symlink or folder: moved out of the stage by one rename. From another file system it is copied beside its
 * place first, and the copy is renamed.
 */
export function prepareTakeNew(writer: Writer, scope: SetScope, { change, place, staged }: NewTake): PreparedChange {
  const { root, journal } = writer;
  const { path, made } = place;
  const temp = joined(place.above, tempName());
  const above = scope.folders.statFolder(place.above);
  const isCopied = scope.copies === 'all' || above?.dev !== staged.stat.dev;
  const mode = (change.mode ?? staged.stat.mode) & 0o1777;
  let comes = { inode: staged.stat.ino, modifiedMs: staged.stat.mtimeMs, digest: staged.digest };

  /** Nothing is to be done before it is moved. */
  const isReady = !isCopied && staged.privileged.length === 0 && change.mode === undefined && scope.sync.isLater;

  /** Permissions are set while it is still in the stage: with more than it may have it is never in the workspace. */
  async function makeReady(): Promise<Result<void>> {
    if (isReady) return ok(undefined);
    return catchErrnoAsync(path, async () => {
      const source = scope.folders.staged(change.from);
      if (!isSame(source.stat, staged.stat)) return alteredAt(path);
      if (staged.privileged.length > 0) dropSetId(staged.privileged, above?.mode ?? 0);
      if (change.mode !== undefined && staged.type !== 'symlink') chmodSync(source.folder.at(source.name), mode);
      if (isCopied) {
        const target = scope.folders.find(temp);
        if (!target.ok) return target;
        copyTree(source.folder, source.name, target.value.folder, { name: target.value.name, sync: scope.sync });
        failpoint('workspace.taken-copy');
      } else scope.sync.tree(source.folder, source.name);
      if (!isCopied && staged.privileged.length === 0) return ok(undefined);
      return settleCopy();
    });
  }

  async function settleCopy(): Promise<Result<void>> {
    const there = isCopied ? scope.folders.find(temp) : ok(scope.folders.staged(change.from));
    if (!there.ok) return there;
    const { folder, name, stat } = there.value;
    if (stat === null) return alteredAt(path);
    // Of a folder it has the times of the copy.
    const digest = stat.isDirectory() ? (await readVersion(folder, name, stat)).digest : staged.digest;
    comes = { inode: stat.ino, modifiedMs: stat.mtimeMs, digest };
    return ok(undefined);
  }

  function comeIn(): Result<void> {
    return catchErrno(path, () => {
      const source = isCopied ? scope.folders.find(temp) : ok(scope.folders.staged(change.from));
      if (!source.ok) return source;
      const { stat } = source.value;
      if (isReady ? !isSame(stat, staged.stat) : stat?.ino !== comes.inode) return alteredAt(path);
      const into = scope.folders.findPlace(path, staged.type);
      if (!into.ok) return into;
      const { folder, name } = into.value;
      renameToFree(source.value.folder, source.value.name, folder, name);
      failpoint('workspace.taken');
      scope.sync.folder(folder);
      return ok(undefined);
    });
  }

  return {
    places: [{ path, via: [] }],
    phase: 'new',
    applied: { kind: 'take', path, type: staged.type, created: true, undoable: journal?.lasts === true },
    get recorded(): RecordedTake {
      const about = { path, temp: isCopied ? temp : null, from: change.from, type: staged.type, made };
      return { kind: 'take', ...about, mode, ...comes, replaced: null, replacedInode: null, undoable: true };
    },
    ...(isCopied && { temp }),
    makeReady,
    async perform() {
      const ready = catchErrno(path, () => makeFolders(scope, made, change));
      const done = ready.ok ? comeIn() : ready;
      if (!done.ok) removeCreatedFolders(root, made);
      return done.ok || done.error.details?.errno !== 'EEXIST' ? done : conflictAt(path, 'is there by now');
    },
    dispose(how) {
      if (how === 'failed' && isCopied) scope.folders.discard(temp);
    },
  };
}

/** A folder that comes without all that is in it in the stage is made anew, with the permissions it has there. */
function makeFolders(scope: SetScope, made: readonly string[], { path: taken, from }: TakeChange): Result<void> {
  const stage = from.endsWith(`/${taken}`) ? from.slice(0, -taken.length) : null;
  for (const path of made) {
    const found = scope.folders.find(path, 'directory');
    if (!found.ok) return found;
    const { folder, name } = found.value;
    try {
      mkdirSync(folder.at(name));
    } catch (thrown) {
      if (errnoOf(thrown) !== 'EEXIST') throw thrown;
      if (!folder.stat(name)?.isDirectory()) return conflictAt(path, 'is there by now');
      continue;
    }
    const like = stage === null ? undefined : lstatSync(`${stage}${path}`, { throwIfNoEntry: false });
    if (like?.isDirectory()) setFolderMode(folder, name, (like.mode & 0o1777) | 0o700);
    scope.sync.folder(folder);
  }
  return ok(undefined);
}

function setFolderMode(folder: Folder, name: string, mode: number): void {
  const child = folder.openChild(name);
  try {
    child.setMode(mode);
  } finally {
    child.close();
  }
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
