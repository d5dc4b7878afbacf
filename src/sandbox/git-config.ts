/** What `git init`, `git clone` and ordinary work write. Anything else may name a program to run. */
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
/** `ext::` and the like run a command to reach the remote. */
const REMOTE_PROGRAM = /^[a-z0-9+.-]*::|^-/i;

/** Without escapes and remarks, so that git reads what stands there. */
const PLAIN_VALUE = /^("?)([^"\\#;]+)\1$/;

interface Entry {
  /** `section.subsection.name`, or null when the line is not plain. */
  readonly key: string | null;
  readonly value: string;
}

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

/** Where a configuration sends git for hooks and further configuration. As written there. */
export function namedPaths(text: string): { hooks: string[]; includes: string[]; worktree: string | null } {
  const entries = readEntries(text).map(({ key, value }) => ({ key, value: value.replace(/^"(.*)"$/, '$1') }));
  const of = (pattern: RegExp): string[] =>
    entries.flatMap(({ key, value }) => (key !== null && value !== '' && pattern.test(key) ? [value] : []));
  return {
    hooks: of(/^core\.hookspath$/),
    includes: of(/^include(?:if\..*)?\.path$/s),
    worktree: of(/^core\.worktree$/).at(-1) ?? null,
  };
}

function risks(text: string, mayBeWorktree: MayBeWorktree): string[] {
  return readEntries(text).flatMap(({ key, value }) =>
    isHarmless(key, value, mayBeWorktree) ? [] : [`${key}=${value}`],
  );
}

function isHarmless(key: string | null, value: string, mayBeWorktree: MayBeWorktree): boolean {
  if (key === null || !HARMLESS_KEY.test(key)) return false;
  if (key === 'core.worktree') {
    const path = PLAIN_VALUE.exec(value)?.[2];
    return path !== undefined && mayBeWorktree(path);
  }
  return !(/url$/.test(key) && REMOTE_PROGRAM.test(value.replace(/^"/, '')));
}

function readEntries(text: string): Entry[] {
  const entries: Entry[] = [];
  let section = '';
  // A backslash joins lines and quotes hide them: what is not plain is not judged harmless.
  if (text.includes('\\\n') || text.includes('\0')) entries.push({ key: null, value: text });
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const header = /^\[([a-z0-9.-]+)(?:\s+"([^"\\]*)")?\]$/i.exec(line);
    if (header !== null) {
      section = [header[1]?.toLowerCase(), header[2]].filter((part) => part !== undefined).join('.');
      continue;
    }
    const entry = /^([a-z][a-z0-9-]*)\s*(?:=\s*(.*))?$/i.exec(line);
    if (entry === null) entries.push({ key: null, value: `${section}: ${line}` });
    else entries.push({ key: `${section}.${entry[1]?.toLowerCase()}`, value: entry[2] ?? '' });
  }
  return entries;
}
