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
