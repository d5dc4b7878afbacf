import { chmodSync, closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { catchErrno, catchErrnoAsync } from '../../host/errno.ts';
import { BY_HANDLE, type Folder } from '../../host/folder.ts';
import { shortPath } from '../../host/parse-path.ts';
import { typeOf } from '../../host/visit-tree.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import { conflictAt, isAtVersion, isSame } from './expectation.ts';
import type { ChangePhase, PreparedChange, SetScope, Writer } from './prepared-change.ts';

type ModeChange = Extract<Change, { kind: 'mode' }>;

/** Prepares new permissions. Set-id bits that are not there already never come. */
export function prepareMode(writer: Writer, scope: SetScope, change: ModeChange): Promise<Result<PreparedChange>> {
  return catchErrnoAsync(change.path, async () => {
    const found = scope.folders.findExisting(change.path);
    if (!found.ok) return found;
    const { folder, name, path, stat } = found.value;
    if (!stat.isFile() && !stat.isDirectory()) {
      return fail('INVALID_PATH', `${shortPath(path)} is neither a file nor a folder: leave it out.`, { path });
    }
    if (stat.isFile()) scope.touched.push({ path, stat });
    const before = stat.mode & 0o7777;
    const { version, mode: expected } = change.expect;
    if (expected !== undefined && (expected & 0o7777) !== before)
      return conflictAt(path, 'has other permissions by now');
    if (version !== null && !(await isAtVersion(folder, name, version))) {
      return conflictAt(path, 'was changed');
    }
    const after = (change.mode & 0o1777) | (change.mode & before & 0o6000);
    scope.sync.expect(1);
    return ok({
      places: [{ path, via: [] }],
      phase: stat.isDirectory() ? folderPhase(before, after) : 'mode',
      applied: { kind: 'mode', path, mode: after, undoable: writer.journal?.lasts === true },
      recorded: { kind: 'mode', path, inode: stat.ino, before, after },
      perform: async () => perform(scope, path, { before: stat, after }),
      dispose() {},
    });
  });
}

/** A folder gets rights before names in it are changed, and loses them after that. */
function folderPhase(before: number, after: number): ChangePhase {
  return (after & ~before & 0o300) !== 0 ? 'open' : 'close';
}

function perform(
  scope: SetScope,
  path: string,
  { before, after }: { readonly before: Stats; readonly after: number },
): Result<void> {
  return catchErrno(path, () => {
    const found = scope.folders.find(path);
    if (!found.ok) return found;
    const { folder, name, stat } = found.value;
    const isIt = before.isDirectory() ? stat?.ino === before.ino : isSame(stat, before);
    if (!isIt || !setMode(folder, name, { inode: before.ino, mode: after })) return conflictAt(path, 'was replaced');
    failpoint('workspace.mode-set');
    scope.sync.folder(folder);
    return ok(undefined);
  });
}

/** Not in node:fs: opens a name without reading rights. */
const O_PATH = 0x200000;
const LOOK = constants.O_NOFOLLOW | (BY_HANDLE ? O_PATH : constants.O_RDONLY);

/** False when the name stands for another file by now. */
export function setMode(
  folder: Folder,
  name: string,
  { inode, mode }: { readonly inode: number; readonly mode: number },
): boolean {
  const fd = openSync(folder.at(name), LOOK);
  try {
    const stat = fstatSync(fd);
    if (stat.ino !== inode || typeOf(stat) === 'symlink') return false;
    chmodSync(BY_HANDLE ? `/proc/self/fd/${fd}` : folder.at(name), mode);
    return true;
  } finally {
    closeSync(fd);
  }
}
