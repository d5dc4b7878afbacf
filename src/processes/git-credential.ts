import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { posix } from 'node:path';
import { gitCredentialsIn } from '../kernel/git-credentials.ts';

/** A pipe in its place is not waited for. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;
const MOST_BYTES = 1024 * 1024;

/** The first of these files in which there is a credential. */
export async function withCredential(root: string, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const at = posix.resolve(root, path);
    if (at.startsWith(`${root}/`) && gitCredentialsIn(await textOf(at)).length > 0) return path;
  }
  return undefined;
}

/** What cannot be read holds nothing that a command could print. */
async function textOf(path: string): Promise<string> {
  try {
    await using file = await open(path, READ);
    if (!(await file.stat()).isFile()) return '';
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } catch {
    return '';
  }
}
