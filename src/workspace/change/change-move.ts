import { closeSync } from 'node:fs';
import { errnoFailure, errnoOf } from '../../host/errno.ts';
import { digestOf } from '../../host/file-version.ts';
import { MAX_WHOLE_BYTES, notFound, openFile, readWhole } from '../../host/open-file.ts';
import { shortPath } from '../../host/parse-path.ts';
import { typeOf } from '../../host/visit-tree.ts';
import type { ResolvedPath } from '../../host/walk-path.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { liesUnwalked } from '../../kernel/world/file-policy.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import { obeyedDigest } from '../authorship/obeyed-digest.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import { syncFolder } from './copy-tree.ts';
import { moveName } from './move-name.ts';
import { leadsAsPlanned } from './planned-place.ts';
import { type PreparedChange, tempName, type Writer } from './prepared-change.ts';
import { refuseSecretMoves } from './refuse-secret-moves.ts';
import { folderMaker, rehearseBelowMissing, wouldMake } from './rehearsal.ts';
import { rehearsedVersion } from './rehearsed-version.ts';
import { removeCreatedFolders } from './remove-created-folders.ts';
import { treeBelow } from './tree-below.ts';

type Move = Extract<Change, { kind: 'move' }>;

/** Prepares a move, also to another file system. A symlink is moved, not its target. */
export async function prepareMove(writer: Writer, change: Move): Promise<Result<PreparedChange>> {
  const { root } = writer;
  const source = root.locate(change.from, { last: 'keep' });
  if (!source.ok) return source;
  const from = source.value;
  if (from.stat === null) {
    from.folder.close();
    return notFound(from.path || '.');
  }
  const moved = await movedTree(root, from);
  if (!moved.ok) {
    from.folder.close();
    return moved;
  }
  const becomes = typeOf(from.stat);
  const target = root.locate(change.to, { last: 'keep', make: folderMaker(writer), becomes });
  if (!target.ok) {
    if (!wouldMake(target)) {
      from.folder.close();
      return target;
    }
    return imaginedMove(writer, from, target);
  }
  const to = target.value;
  const close = () => {
    from.folder.close();
    to.folder.close();
  };
  const failed = (result: Result<never>): Result<never> => {
    removeCreatedFolders(root, to.made);
    close();
    return result;
  };

  try {
    const refused = await mayMove(writer, change, { from, to, below: moved.value });
    if (!refused.ok) return failed(refused);
    const type = typeOf(from.stat);
    const digest = type === 'file' ? digestIn(contentOf(from)) : null;
    const old = to.stat?.isFile() ? contentOf(to) : null;
    const replaced = to.stat === null ? null : (writer.journal?.snapshots.keep(to, old, digestIn(old)) ?? null);
    const temp = tempName();
    return ok({
      places: [from, to],
      phase: 'changed',
      ...(to.stat !== null && { before: () => (old === null ? undefined : obeyedDigest(to.path, old)) }),
      applied: {
        kind: 'move',
        from: from.path,
        to: to.path,
        replaced: to.stat !== null,
      },
      ...(writer.rehearsal && {
        versions: { [from.path]: await rehearsedVersion(from), [to.path]: await rehearsedVersion(to) },
      }),
      recorded: {
        kind: 'move',
        from: from.path,
        to: to.path,
        temp,
        type,
        inode: from.stat.ino,
        ...(to.folder.stat('')?.dev !== from.stat.dev && { copied: true }),
        digest,
        replaced,
        undoable: to.stat === null || replaced !== null,
        made: to.made,
      },
      perform: async () => rename(from, to, temp),
      dispose(how) {
        if (how === 'failed') removeCreatedFolders(root, to.made);
        close();
      },
    });
  } catch (thrown) {
    return failed(errnoFailure(thrown, change.from));
  }
}

/** A move into a folder that does not exist yet. */
async function imaginedMove(
  writer: Writer,
  from: ResolvedPath,
  located: Result<unknown>,
): Promise<Result<PreparedChange>> {
  try {
    const version = await rehearsedVersion(from);
    return rehearseBelowMissing(writer, located, (to, place) => ({
      applied: { kind: 'move', from: from.path, to, replaced: false },
      versions: { [from.path]: version, [to]: 'absent' },
      places: [from, place],
    }));
  } catch (thrown) {
    return errnoFailure(thrown, from.path);
  } finally {
    from.folder.close();
  }
}

/** The paths below what is to be moved. Refuses what must not get another name: a secret, and a folder with one. */
async function movedTree(root: WorkspaceRoot, from: ResolvedPath): Promise<Result<readonly string[]>> {
  if (from.name === '') return fail('PERMISSION_DENIED', IS_WORKSPACE);
  const below = await treeBelow(root, from);
  if (!below.ok) return below;
  const { paths } = below.value;
  const refused = await refuseSecretMoves(root, from, paths);
  return refused.ok ? ok(paths) : refused;
}

const IS_WORKSPACE = 'The workspace itself cannot be moved.';

interface MovedPlaces {
  readonly from: ResolvedPath;
  readonly to: ResolvedPath;
  readonly below: readonly string[];
}

async function mayMove(writer: Writer, change: Move, { from, to, below }: MovedPlaces): Promise<Result<void>> {
  const { root, secrets } = writer;
  for (const [given, spot] of [
    [change.from, from],
    [change.to, to],
  ] as const) {
    const same = leadsAsPlanned(writer, given, spot);
    if (!same.ok) return same;
  }
  if (to.name === '') return fail('PERMISSION_DENIED', IS_WORKSPACE);
  if (typeOf(from.stat as NonNullable<ResolvedPath['stat']>) === 'other') {
    return fail('INVALID_PATH', `${shortPath(from.path)} is a pipe, a socket or a device, not a file.`);
  }
  if (from.path === to.path) return fail('INVALID_INPUT', `${shortPath(from.path)} is already there.`);
  if (`${to.path}/`.startsWith(`${from.path}/`)) {
    return fail('INVALID_PATH', `${shortPath(from.path)} cannot be moved into itself.`);
  }
  if (to.stat !== null && (to.stat.isDirectory() || !change.overwrite)) return occupied(to);
  if (to.stat !== null && from.stat?.isDirectory()) return occupied(to);
  if (to.stat !== null && typeOf(to.stat) === 'other') {
    return fail('INVALID_PATH', `${shortPath(to.path)} is a pipe, a socket or a device: it cannot be replaced.`);
  }
  if (from.stat?.isSymbolicLink() && root.policy.holdsProtected(to.path)) {
    const why = `${shortPath(to.path)} is where protected files are looked for: no link is moved there.`;
    return fail('PERMISSION_DENIED', `${why} Make a folder of that name, or ask the person to move the link.`);
  }
  for (const spot of [from, to]) {
    const secret = spot.stat?.isFile() ? await secrets.refuse(spot.path, spot.stat) : undefined;
    if (secret !== undefined) return secret;
  }
  return staysOrdinary(root, below, from.path, to.path);
}

/** Refuses a move by which a file in the folder would become protected: its approval was never asked for. */
function staysOrdinary(root: WorkspaceRoot, below: readonly string[], from: string, to: string): Result<void> {
  const protection = root.protectionBelow(from, to);
  for (const path of below) {
    const target = `${to}${path.slice(from.length)}`;
    const at = root.statUnjudged(path);
    const refused = root.refuses(target, at === null ? undefined : typeOf(at));
    if (!refused.ok) return refused;
    const why = protection(target);
    if (why === null || isAskedAbout(root, path, target)) continue;
    return fail('PERMISSION_DENIED', `${why} Move that file on its own, so that a person is asked.`);
  }
  return ok(undefined);
}

/** A path below node_modules may belong to git by its name, but files there are not watched for what they make git run. */
function isAskedAbout(root: WorkspaceRoot, path: string, target: string): boolean {
  return root.protection({ path, via: [] }) !== null && (!liesUnwalked(path) || liesUnwalked(target));
}

function occupied({ path, stat }: ResolvedPath): Result<never> {
  const folder = stat?.isDirectory() === true;
  const next = folder
    ? 'is a folder: give the full new path, including the name.'
    : 'exists: set overwrite to replace it.';
  return fail('CONFLICT', `${shortPath(path)} ${next}`, { path, folder });
}

function contentOf(spot: ResolvedPath): Buffer | null {
  if ((spot.stat?.size ?? 0) > MAX_WHOLE_BYTES) return null;
  const file = openFile(spot);
  if (!file.ok) return null;
  try {
    return readWhole(file.value, MAX_WHOLE_BYTES);
  } finally {
    closeSync(file.value.fd);
  }
}

function digestIn(content: Buffer | null): string | null {
  return content === null ? null : digestOf(content);
}

function rename(from: ResolvedPath, to: ResolvedPath, temp: string): Result<void> {
  try {
    if (!from.folder.isInPlace() || !to.folder.isInPlace()) {
      return fail(
        'CONFLICT',
        `${shortPath(from.path)} was moved by somebody else just now; nothing was changed. Try again.`,
      );
    }
    moveName(from.folder, from.name, to.folder, { name: to.name, temp, replace: to.stat !== null });
    syncFolder(to.folder);
    if (to.folder.path !== from.folder.path) syncFolder(from.folder);
    return ok(undefined);
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST' || errnoOf(thrown) === 'ENOTEMPTY') return occupied({ ...to, stat: null });
    return errnoFailure(thrown, from.path);
  }
}
