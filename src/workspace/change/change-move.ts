import { closeSync } from 'node:fs';
import { liesUnwalked } from '../../kernel/file-policy.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Applied, Change } from '../../kernel/world/workspace.ts';
import { syncFolder } from './copy-tree.ts';
import { errnoOf, refusal } from '../../host/errno.ts';
import { moveName } from './move-name.ts';
import { notFound, openFile, readWhole, WHOLE_BYTES } from '../../host/open-file.ts';
import { shown } from '../../host/parse-path.ts';
import type { Place } from '../workspace-root.ts';
import { type Prepared, tempName, type Writer } from '../prepared.ts';
import { folderMaker, imagined, wouldMake } from './rehearsal.ts';
import { typeOf } from '../../host/visit-tree.ts';
import { treeBelow } from './tree-below.ts';
import { unmake } from '../unmake.ts';
import { digestOf } from '../version.ts';
import type { Spot } from '../../host/walk-path.ts';

type Move = Extract<Change, { kind: 'move' }>;

/** Moves a name, also to another file system. A link is moved, not what it leads to. */
export async function prepareMove(writer: Writer, change: Move): Promise<Result<Prepared>> {
  const { place } = writer;
  const source = place.locate(change.from, { last: 'keep' });
  if (!source.ok) return source;
  const from = source.value;
  if (from.stat === null) {
    from.folder.close();
    return notFound(from.path || '.');
  }
  const target = place.locate(change.to, { last: 'keep', make: folderMaker(writer) });
  if (!target.ok) {
    from.folder.close();
    if (!wouldMake(target)) return target;
    const applied = (path: string): Applied => ({ kind: 'move', from: from.path, to: path, replaced: false });
    return imagined(writer, { located: target, applied });
  }
  const to = target.value;
  const close = () => {
    from.folder.close();
    to.folder.close();
  };
  const failed = (result: Result<never>): Result<never> => {
    unmake(place, to.made);
    close();
    return result;
  };

  try {
    const refused = await mayMove(writer, from, to, change);
    if (!refused.ok) return failed(refused);
    const type = typeOf(from.stat);
    const digest = type === 'file' ? digestIn(contentOf(from)) : null;
    const old = to.stat?.isFile() ? contentOf(to) : null;
    const replaced = to.stat === null ? null : (writer.journal?.images.keep(to, old, digestIn(old)) ?? null);
    const temp = tempName();
    return ok({
      paths: [from.path, to.path],
      applied: { kind: 'move', from: from.path, to: to.path, replaced: to.stat !== null },
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
        if (how === 'failed') unmake(place, to.made);
        close();
      },
    });
  } catch (thrown) {
    return failed(refusal(thrown, change.from));
  }
}

async function mayMove(writer: Writer, from: Spot, to: Spot, change: Move): Promise<Result<void>> {
  const { place, secrets } = writer;
  for (const [given, spot] of [
    [change.from, from],
    [change.to, to],
  ] as const) {
    const open = writer.stillOpen?.(given, spot) ?? ok(undefined);
    if (!open.ok) return open;
  }
  if (from.name === '' || to.name === '') return fail('PERMISSION_DENIED', 'The workspace itself cannot be moved.');
  if (typeOf(from.stat as NonNullable<Spot['stat']>) === 'other') {
    return fail('INVALID_PATH', `${shown(from.path)} is a pipe, a socket or a device, not a file.`);
  }
  if (from.path === to.path) return fail('INVALID_INPUT', `${shown(from.path)} is already there.`);
  if (`${to.path}/`.startsWith(`${from.path}/`)) {
    return fail('INVALID_PATH', `${shown(from.path)} cannot be moved into itself.`);
  }
  if (to.stat !== null && (to.stat.isDirectory() || !change.overwrite)) return occupied(to);
  if (to.stat !== null && from.stat?.isDirectory()) return occupied(to);
  if (to.stat !== null && typeOf(to.stat) === 'other') {
    return fail('INVALID_PATH', `${shown(to.path)} is a pipe, a socket or a device: it cannot be replaced.`);
  }
  if (from.stat?.isSymbolicLink() && place.policy.holdsProtected(to.path)) {
    const why = `${shown(to.path)} is where protected files are looked for: no link is moved there.`;
    return fail('PERMISSION_DENIED', `${why} Make a folder of that name, or ask the person to move the link.`);
  }
  for (const spot of [from, to]) {
    const secret = spot.stat?.isFile() ? await secrets.refuses(spot.path, spot.stat) : undefined;
    if (secret !== undefined) return secret;
  }
  const below = await treeBelow(place, from);
  return below.ok ? staysOrdinary(place, below.value.paths, from.path, to.path) : below;
}

/** Nobody was asked about what lies in a folder: it must not become something that somebody would be asked about. */
function staysOrdinary(place: Place, below: readonly string[], from: string, to: string): Result<void> {
  const protection = place.protectionBelow(from, to);
  for (const path of below) {
    const target = `${to}${path.slice(from.length)}`;
    const refused = place.refuses(target);
    if (!refused.ok) return refused;
    const why = protection(target);
    if (why === null || isAskedAbout(place, path, target)) continue;
    return fail('PERMISSION_DENIED', `${why} Move that file on its own, so that a person is asked.`);
  }
  return ok(undefined);
}

/** What lies below node_modules may be git's by its name, but nobody looks at what it makes git run there. */
function isAskedAbout(place: Place, path: string, target: string): boolean {
  return place.protection({ path, via: [] }) !== null && (!liesUnwalked(path) || liesUnwalked(target));
}

function occupied({ path, stat }: Spot): Result<never> {
  const folder = stat?.isDirectory() === true;
  const next = folder
    ? 'is a folder: give the full new path, including the name.'
    : 'exists: set overwrite to replace it.';
  return fail('CONFLICT', `${shown(path)} ${next}`, { path, folder });
}

function contentOf(spot: Spot): Buffer | null {
  if ((spot.stat?.size ?? 0) > WHOLE_BYTES) return null;
  const file = openFile(spot);
  if (!file.ok) return null;
  try {
    return readWhole(file.value, WHOLE_BYTES);
  } finally {
    closeSync(file.value.fd);
  }
}

function digestIn(content: Buffer | null): string | null {
  return content === null ? null : digestOf(content);
}

function rename(from: Spot, to: Spot, temp: string): Result<void> {
  try {
    if (!from.folder.isInPlace() || !to.folder.isInPlace()) {
      return fail(
        'CONFLICT',
        `${shown(from.path)} was moved by somebody else just now; nothing was changed. Try again.`,
      );
    }
    moveName(from.folder, from.name, to.folder, { name: to.name, temp, replace: to.stat !== null });
    syncFolder(to.folder);
    if (to.folder.path !== from.folder.path) syncFolder(from.folder);
    return ok(undefined);
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST' || errnoOf(thrown) === 'ENOTEMPTY') return occupied({ ...to, stat: null });
    return refusal(thrown, from.path);
  }
}
