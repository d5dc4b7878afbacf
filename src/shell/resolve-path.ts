import { posix } from 'node:path';
import type { FilePolicy } from '../kernel/world/file-policy.ts';
import { plainWord, type ShellWord } from './words.ts';

/** Where a command runs and which files it may see. Paths are absolute. */
export interface Surroundings {
  readonly root: string;
  readonly home: string;
  readonly files: FilePolicy;
  /** Where the command starts. Left out: the root. */
  readonly cwd?: string;
  /** Whether hidden files are masked, also for programs that find them by walking. Left out: yes. */
  readonly masked?: boolean;
}

export type WordTarget =
  /** Known only at run time. */
  | { kind: 'computed' }
  /** A file or folder of the workspace, by its path in it. */
  | { kind: 'inside'; path: string }
  /** Always harmless: /dev/null, and in a sandbox the command's own /tmp. */
  | { kind: 'neutral' }
  | { kind: 'outside'; path: string };

/** No file has a longer path: what is longer is code or data, and counts as far as this. */
const MAX_PATH_CHARACTERS = 4096;

const NEUTRAL = /^\/dev\/(null|zero|full|random|urandom|stdin|stdout|stderr|tty|fd\/\d+)$/;
const OWN_IN_SANDBOX = /^\/tmp(\/|$)/;

/** The paths that a word leads to, from each folder that the command may run in. */
export function targetsOf(
  word: ShellWord,
  cwds: readonly string[],
  { root, home, masked = true }: Surroundings,
): WordTarget[] {
  if (word.home) return [{ kind: 'outside', path: posix.join(home, word.text.replace(/^[^/]*/, '')) }];
  const { value } = word;
  if (value === null) return [{ kind: 'computed' }];
  return cwds.map((cwd) => {
    const path = posix.resolve(cwd, value.slice(0, MAX_PATH_CHARACTERS) || '.');
    if (path === root || path.startsWith(`${root}/`)) return { kind: 'inside', path: posix.relative(root, path) };
    const isNeutral = NEUTRAL.test(path) || (masked && OWN_IN_SANDBOX.test(path));
    return isNeutral ? { kind: 'neutral' } : { kind: 'outside', path };
  });
}

const SYSTEM =
  /^\/(bin|boot|dev|etc|home|lib|lib32|lib64|media|mnt|opt|proc|root|run|sbin|srv|sys|usr|var|Applications|Library|System|Users|Volumes)(\/|$)/;

/** Whether a word names a path that must not be lost: the system, a home folder, a parent of the workspace. A pattern counts as the path in front of it. */
export function isPrecious(word: ShellWord, cwds: readonly string[], where: Surroundings): boolean {
  if (word.home || /^~/.test(word.text)) return true;
  if (word.value === null) return isPreciousWhenComputed(word.text, where);
  if (word.value.length > MAX_PATH_CHARACTERS && !word.pattern) return false;
  const { root, home } = where;
  // The whole word counts too: `x*/../../..` goes up again behind the pattern.
  const tried = word.pattern ? [beforePattern(word.value), word.value] : [word.value];
  // Resolving a path takes longest, and a script may have many words: these stay below the folder that they start from.
  if (
    !word.value.startsWith('/') &&
    !word.value.includes('..') &&
    cwds.every((cwd) => `${cwd}/`.startsWith(`${root}/`))
  )
    return false;
  return cwds.some((cwd) => tried.some((value) => isOneAt(posix.resolve(cwd, value || '.'))));

  function isOneAt(path: string): boolean {
    if (path === root) return false;
    if (path === '/' || path === home || root.startsWith(`${path}/`)) return true;
    return SYSTEM.test(path) && !path.startsWith(`${root}/`) && !NEUTRAL.test(path);
  }
}

function beforePattern(value: string): string {
  const at = value.search(/[*?[]/);
  return at === -1 ? value : value.slice(0, value.lastIndexOf('/', at) + 1);
}

/** Judges a computed word by the parts that are known: `$HOME`, `$PWD`, default values, and the path when a variable is empty. */
function isPreciousWhenComputed(text: string, where: Surroundings): boolean {
  const bare = text.replace(/["'\\]/g, '');
  if (/^\$\{?HOME\b/.test(bare) || /\$\{!?\w+:?[-=+][/~]/.test(bare) || /[{,][/~]/.test(bare)) return true;
  if (/^(\$\{?(OLD)?PWD\b[^/]*|\$\(pwd\)|`pwd`|~[+-])(\/\.)*\/\.\./.test(bare)) return true;
  // In `/$X` and `/{bin,usr}` the path in front of the computed part is lost when that part is empty.
  const front = /^\/(?:[^$`{]*\/)?(?=[^/]*[$`{])/.exec(bare)?.[0];
  return front !== undefined && isPrecious(plainWord(front), ['/'], where);
}

/** The sensitive file that a word names, and why it is one. Which files a pattern matches is known only at run time. */
export function sensitiveTarget(
  word: ShellWord,
  cwds: readonly string[],
  where: Surroundings,
): { readonly path: string; readonly reason: string } | undefined {
  if (word.pattern || word.value === null || cwds.length === 0) return undefined;
  // The script may have gone into a folder: then `../.env` is here.
  const behindUps = posix.normalize(word.value.slice(0, MAX_PATH_CHARACTERS)).replace(/^(?:\.\.\/)+/, '');
  const inside = targetsOf(word, cwds, where).flatMap((place) => (place.kind === 'inside' ? [place.path] : []));
  for (const path of behindUps.startsWith('/') ? inside : [...inside, behindUps]) {
    const { access, rule } = where.files.judge(path);
    if (access === 'hidden') return { path, reason: rule?.reason ?? 'it is sensitive' };
  }
  return undefined;
}
