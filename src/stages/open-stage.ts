import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoFailure, errnoOf } from '../host/errno.ts';
import { openInside } from '../host/read-inside.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { ClassifiedChange, Stage } from '../kernel/world/stage.ts';
import type { StageFile } from './stage-file.ts';

export interface StageMethods extends Pick<Stage, 'discard' | 'kept'> {
  /** The folder that its changes stand on. Left out: the workspace. */
  before?(): string;
}

/** A finished stage, from its file. */
export function openStage({ format: _format, content, ...file }: StageFile, methods: StageMethods): Stage {
  const { overtakenBy, isOfSession, ...about } = file;
  const before = methods.before ?? (() => file.workspace);
  return {
    ...about,
    ...(overtakenBy && { overtakenBy }),
    ...(isOfSession && { isOfSession }),
    changes: file.changes as readonly ClassifiedChange[],
    contentOf: (path) => join(content, path),
    read: async (path, side, maxBytes) => readFile(side === 'before' ? before() : content, path, maxBytes),
    discard: methods.discard,
    kept: methods.kept,
  };
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
