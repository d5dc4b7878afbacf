import { readSettings } from './settings.ts';

/** Settings that `git init`, `git clone` and ordinary work write. Any other setting may name a program to run. */
const HARMLESS = new RegExp(
  [
    'core\\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol)',
    'core\\.(abbrev|quotepath|compression|sharedrepository|worktree)',
    'remote\\..*\\.(fetch|tagopt|prune|mirror|url|pushurl)',
    'branch\\..*\\.(remote|merge|rebase|description)',
    'user\\.(name|email)|init\\.defaultbranch|pull\\.(rebase|ff)|push\\.(default|autosetupremote)|gc\\.auto',
    'extensions\\.(objectformat|refstorage|worktreeconfig)|submodule\\..*\\.(url|active)',
  ].join('|'),
);
const HARMLESS_KEY = new RegExp(`^(?:${HARMLESS.source})$`, 's');
const REMOTE_KEY = /url$|^branch\..*\.remote$/s;
/** `ext::` and the like run a command to reach the remote. */
const REMOTE_PROGRAM = /^[a-z0-9+.-]*::|^-/i;

/** Quoted as a whole or not at all: git puts together what is quoted in parts. */
const WHOLE_VALUE = /^(?:"([^"\\]*)"|([^"\\]*))$/s;
/** Without escapes and remarks, so that git reads what stands there. */
const PLAIN_VALUE = /^("?)([^"\\#;]+)\1$/;

/** Whether git may write into the folder that `core.worktree` names. */
type MayBeWorktree = (path: string) => boolean;

export function isHarmlessGitConfig(text: string | null, mayBeWorktree: MayBeWorktree): boolean {
  return text !== null && risks(text, mayBeWorktree).length === 0;
}

/** True when every entry that could run a program, or write elsewhere, stood in `before` already. */
export function addsNoRisk(before: string, after: string, mayBeWorktree: MayBeWorktree): boolean {
  const known = new Set(risks(before, mayBeWorktree));
  return risks(after, mayBeWorktree).every((risk) => known.has(risk));
}

/** Each is looked for on disk; more are not, and count as a risk. */
const MOST_WORKTREES = 100;

function risks(text: string, mayBeWorktree: MayBeWorktree): string[] {
  let asked = 0;
  const mayBeAsked = (path: string): boolean => ++asked <= MOST_WORKTREES && mayBeWorktree(path);
  return readSettings(text).flatMap(({ key, value }) =>
    isHarmless(key, value, mayBeAsked) ? [] : [`${key}=${value}`],
  );
}

function isHarmless(key: string | null, value: string, mayBeWorktree: MayBeWorktree): boolean {
  if (key === null || !HARMLESS_KEY.test(key)) return false;
  if (key === 'core.worktree') {
    const path = PLAIN_VALUE.exec(value)?.[2];
    return path !== undefined && mayBeWorktree(path);
  }
  if (!REMOTE_KEY.test(key)) return true;
  const whole = WHOLE_VALUE.exec(value);
  return whole !== null && !REMOTE_PROGRAM.test(whole[1] ?? whole[2] ?? '');
}
