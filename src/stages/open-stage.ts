import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoFailure, errnoOf } from '../host/errno.ts';
import { digestsOf, versionOf } from '../host/file-version.ts';
import { openInside } from '../host/read-inside.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { ClassifiedChange, PathVersion, Stage } from '../kernel/world/stage.ts';
import type { StageFile } from './stage-file.ts';

export interface StageMethods extends Pick<Stage, 'discard' | 'kept'> {
  /** The folder that its changes stand on. */
  before(): string;
}

/** Makes a stage from its file. */
export function openStage({ format: _format, content, ...file }: StageFile, methods: StageMethods): Stage {
  const { overtakenBy, isOfSession, ...about } = file;
  // The old text of a hidden file was not read when the stage was compared, and is not shown.
  const unread = new Set(file.changes.flatMap(({ path, before: of }) => (isUnread(of) ? [path] : [])));
  const listed = new Map(file.changes.flatMap(({ path, after }) => (after?.type === 'file' ? [[path, after]] : [])));
  return {
    ...about,
    ...(overtakenBy && { overtakenBy }),
    ...(isOfSession && { isOfSession }),
    changes: file.changes as readonly ClassifiedChange[],
    contentOf: (path) => join(content, path),
    async read(path, side, maxBytes) {
      if (side === 'before') return unread.has(path) ? ok(null) : readFile(methods.before(), path, maxBytes);
      return asListed(readFile(content, path, maxBytes), { path, maxBytes, listed: listed.get(path) });
    },
    discard: methods.discard,
    kept: methods.kept,
  };
}

function isUnread(version: StageFile['changes'][number]['before']): boolean {
  return version?.type === 'file' && version.version === null;
}

/** Refuses content that is not what was listed: it is neither shown nor kept. */
function asListed(
  read: Result<Uint8Array | null>,
  { path, maxBytes, listed }: { path: string; maxBytes: number; listed: PathVersion | undefined },
): Result<Uint8Array | null> {
  if (listed === undefined || listed.version === null || listed.size > maxBytes) return read;
  const versions =
    read.ok && read.value !== null ? digestsOf(basename(path), Buffer.from(read.value)).map(versionOf) : [];
  if (versions.includes(listed.version)) return read;
  const next = 'Leave it out, or discard these changes and run the command again.';
  return fail('CONFLICT', `${path} is not what was shown: its pending content was changed. ${next}`, { path });
}

/** No symlink is followed: a run may have put one in place of any folder above. Null when there is nothing. */
function readFile(root: string, path: string, maxBytes: number): Result<Uint8Array | null> {
  try {
    const folder = openInside(root, dirname(path));
    try {
      return readOpened(`${folder.self}/${basename(path)}`, path, maxBytes);
    } finally {
      folder.close();
    }
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '') ? ok(null) : errnoFailure(error, path);
  }
}

function readOpened(file: string, path: string, maxBytes: number): Result<Uint8Array> {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return fail('INVALID_INPUT', `${path} is no file, so it has no content to show.`);
    if (stat.size > maxBytes)
      return fail('TOO_LARGE', `${path} has ${stat.size} bytes; at most ${maxBytes} are shown.`);
    return ok(readFileSync(fd));
  } finally {
    closeSync(fd);
  }
}
