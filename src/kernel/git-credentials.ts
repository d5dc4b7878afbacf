/** Files in which git keeps the addresses of other repositories, and what it says to them. */
export function isGitConfig(path: string): boolean {
  const names = path.toLowerCase().split('/');
  const last = names.pop() ?? '';
  if (last === '.gitconfig' || last === '.gitmodules') return true;
  return /^config(?:\.worktree)?$/.test(last) && names.some((name) => name.endsWith('.git'));
}

const ADDRESS = /\b[a-z][a-z0-9+.-]{0,20}:\/\/([^\s/:@"'\\]*)(?::([^\s/@"'\\]*))?@/gi;
const SECRET_KEY = /(?:extraheader|smtppass|token|password|secret)$/i;

/** The credentials in the text of such a file. A user's name alone is none, unless it reads like a token. */
export function gitCredentialsIn(text: string): string[] {
  const found: string[] = [];
  for (const [, user = '', password = ''] of text.matchAll(ADDRESS)) {
    if (password !== '') found.push(password);
    else if (user.length >= 16 && /\d/.test(user)) found.push(user);
  }
  for (const line of text.split('\n')) {
    const sign = line.indexOf('=');
    if (sign < 0 || !SECRET_KEY.test(line.slice(0, sign).trimEnd())) continue;
    // Of a header, the last word: «Authorization: Basic …».
    const words = line
      .slice(sign + 1)
      .trim()
      .split(/\s+/);
    found.push((words.at(-1) ?? '').replace(/["']/g, ''));
  }
  return found.filter((value) => value !== '');
}
