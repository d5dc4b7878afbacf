import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Checked, checkObject } from './check.ts';
import { withoutComments } from './comments.ts';

const LARGEST_FILE = 1_000_000;

// A pipe would never end, and a workspace may hold one: opening does not wait for its other side.
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/** The user's own file; it may be a link, as those who keep such files in a repository have it. */
export function checkUserFile(path: string): Promise<Checked> {
  return checkFile(path, READ);
}

/**
 * The workspace's file. Neither it nor its folder may be a link: what it leads to would be read with the user's rights,
 * and messages quote names and values.
 */
export async function checkWorkspaceFile(path: string): Promise<Checked> {
  const folder = await lstat(dirname(path)).catch(() => undefined);
  if (folder?.isSymbolicLink()) return problem(`${dirname(path)} ${NO_LINK}`);
  return checkFile(path, READ | constants.O_NOFOLLOW);
}

const NO_LINK = "is a symbolic link. A workspace's settings must be in the workspace: put the file itself there.";

async function checkFile(path: string, flags: number): Promise<Checked> {
  let text: string | undefined;
  try {
    text = await readPlainFile(path, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { values: {}, problems: [] };
    if (code === 'ELOOP') return problem(`${path} ${NO_LINK}`);
    return problem(`${path} cannot be read (${code}).`);
  }
  if (text === undefined) return problem(`${path} is no plain file of at most 1 MB.`);
  let given: unknown;
  try {
    given = JSON.parse(withoutComments(text.replace(/^\ufeff/, '')));
  } catch (error) {
    return problem(`${path} is not JSON${placeOf(error as Error, text)}. It must hold an object: { "mode": "ask" }.`);
  }
  return checkObject(path, given);
}

async function readPlainFile(path: string, flags: number): Promise<string | undefined> {
  const file = await open(path, flags);
  try {
    const found = await file.stat();
    return found.isFile() && found.size <= LARGEST_FILE ? await file.readFile('utf8') : undefined;
  } finally {
    await file.close();
  }
}

/** The parser's own message quotes the file, which may hold secrets: of it only the position is taken, where it has one. */
function placeOf({ message }: Error, text: string): string {
  const position = / in JSON at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1];
  if (position === undefined) return '';
  const before = text.slice(0, Number(position)).split('\n');
  return ` (line ${before.length}, column ${(before.at(-1) ?? '').length + 1})`;
}

function problem(text: string): Checked {
  return { values: {}, problems: [text] };
}
