import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { posix } from 'node:path';

/** Whether git keeps the addresses of remotes and the headers that it sends to them in a file of this path. */
export function isGitConfig(path: string): boolean {
  const names = path.toLowerCase().split('/');
  const last = names.pop() ?? '';
  if (last === '.gitconfig' || last === '.gitmodules') return true;
  return /^config(?:\.worktree)?$/.test(last) && names.some((name) => name.endsWith('.git'));
}

const ADDRESS = /\b[a-z][a-z0-9+.-]{0,20}:\/\/([^\s/:@"'\\]*)(?::([^\s/@"'\\]*))?@/gi;
const SECRET_KEY = /(?:extraheader|smtppass|token|password|secret)$/i;

/** The credentials in the text of such a file. A user name alone is none, unless it reads like a token. */
export function gitCredentialsIn(text: string): string[] {
  const found: string[] = [];
  for (const [, user = '', password = ''] of text.matchAll(ADDRESS)) {
    if (password !== '') found.push(password);
    else if (user.length >= 16 && /\d/.test(user)) found.push(user);
  }
  for (const line of text.split('\n')) {
    const sign = line.indexOf('=');
    if (sign < 0 || !SECRET_KEY.test(line.slice(0, sign).trimEnd())) continue;
    // Of a header such as "Authorization: Basic …" the last word counts.
    const words = line
      .slice(sign + 1)
      .trim()
      .split(/\s+/);
    found.push((words.at(-1) ?? '').replace(/["']/g, ''));
  }
  return found.filter((value) => value !== '');
}

/** Whether this is a configuration of git that holds a password or token: in a remote's address, or in a header. */
export function holdsGitCredential(path: string, bytes: Buffer): boolean {
  return isGitConfig(path) && gitCredentialsIn(bytes.toString('latin1')).length > 0;
}

/** Without blocking: a pipe in place of the file must not be waited for. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;
const MAX_READ_BYTES = 1024 * 1024;

/** The first of these paths in the workspace whose file holds a credential. */
export async function findGitCredential(root: string, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const at = posix.resolve(root, path);
    if (at.startsWith(`${root}/`) && gitCredentialsIn(await readText(at)).length > 0) return path;
  }
  return undefined;
}

/** Empty for a file that cannot be read: a command could not print it either. */
async function readText(path: string): Promise<string> {
  try {
    await using file = await open(path, READ);
    if (!(await file.stat()).isFile()) return '';
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_READ_BYTES), 0, MAX_READ_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } catch {
    return '';
  }
}
