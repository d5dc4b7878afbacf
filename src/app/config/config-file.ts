import { constants, type Stats } from 'node:fs';
import { lstat, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { quoteForShell } from '../../kernel/text/escape.ts';
import { type CheckedSettings, checkObject } from './check.ts';

const MAX_FILE_BYTES = 1_000_000;

// Opening does not block on a named pipe, which a workspace may hold and which would never end.
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Reads the user's own file, which may grant anything. It may be a symlink, for people who keep such files in a repository.
 * It is refused if other users of the machine can write it or replace it.
 */
export async function checkUserFile(path: string): Promise<CheckedSettings> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  return checkFile(path, READ, (found) => {
    if (isOpenToOthers(found)) return openToOthers(path);
    return folder !== undefined && isOpenToOthers(folder) ? openToOthers(dirname(path)) : undefined;
  });
}

/** The group of the user themselves may write: on many systems it is a group of one. */
function isOpenToOthers({ mode, gid }: Stats): boolean {
  const own = process.getgid?.();
  if (own === undefined) return false;
  return (mode & constants.S_IWOTH) !== 0 || ((mode & constants.S_IWGRP) !== 0 && gid !== own);
}

function openToOthers(path: string): string {
  return `${path} can be written by other users, who could allow anything in your name. Check what it holds, then run: chmod go-w ${quoteForShell(path)}`;
}

/**
 * Reads the file of a workspace. Neither the file nor its directory may be a symlink: its target would be read with the
 * user's rights, and messages quote names and values.
 */
export async function checkWorkspaceFile(path: string): Promise<CheckedSettings> {
  const folder = await lstat(dirname(path)).catch(() => undefined);
  if (folder?.isSymbolicLink()) return problem(`${dirname(path)} ${NO_LINK}`);
  return checkFile(path, READ | constants.O_NOFOLLOW);
}

const NO_LINK = "is a symlink. A workspace's settings must be in the workspace: put the file itself there.";

type FileJudge = (found: Stats) => string | undefined;

async function checkFile(path: string, flags: number, judge: FileJudge = () => undefined): Promise<CheckedSettings> {
  let text: string | undefined;
  let refused: string | undefined;
  try {
    text = await readPlainFile(path, flags, (found) => {
      refused = judge(found);
      return refused === undefined;
    });
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return { values: {}, problems: [] };
    if (errno === 'ELOOP') return problem(`${path} ${NO_LINK}`);
    return problem(`${path} cannot be read (${errno}).`);
  }
  if (refused !== undefined) return problem(refused);
  if (text === undefined) return problem(`${path} is not a regular file of at most 1 MB.`);
  let given: unknown;
  try {
    given = JSON.parse(withoutComments(text.replace(/^\ufeff/, '')));
  } catch (error) {
    return problem(`${path} is not JSON${placeOf(error as Error, text)}. It must hold an object: { "mode": "ask" }.`);
  }
  return checkObject(path, given);
}

/** Undefined for a file that is not plain, is too large, or is not accepted. */
async function readPlainFile(
  path: string,
  flags: number,
  accepts: (found: Stats) => boolean,
): Promise<string | undefined> {
  const file = await open(path, flags);
  try {
    const found = await file.stat();
    return found.isFile() && found.size <= MAX_FILE_BYTES && accepts(found) ? await file.readFile('utf8') : undefined;
  } finally {
    await file.close();
  }
}

/** Takes only the position from the message of the parser, which quotes the file and may show secrets. */
function placeOf({ message }: Error, text: string): string {
  const position = / in JSON at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1];
  if (position === undefined) return '';
  const before = text.slice(0, Number(position)).split('\n');
  return ` (line ${before.length}, column ${(before.at(-1) ?? '').length + 1})`;
}

function problem(text: string): CheckedSettings {
  return { values: {}, problems: [text] };
}

/** An unclosed quote or comment matches up to the end of the text; otherwise each quote in it would be tried again. */
const QUOTED_OR_COMMENT = /"(?:[^"\\]|\\[\s\S]?)*"?|(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|\/\*[\s\S]*/g;

/** Replaces comments with spaces, so that positions in messages stay right. Quoted texts stay unchanged. */
export function withoutComments(text: string): string {
  return text.replace(QUOTED_OR_COMMENT, (found, comment: string | undefined) =>
    comment === undefined ? found : comment.replace(/[^\n]/g, ' '),
  );
}
