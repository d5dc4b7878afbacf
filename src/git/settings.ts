/** One line of a git configuration. */
interface GitSetting {
  /** `section.subsection.name`, or null when the line is not plain. */
  readonly key: string | null;
  readonly value: string;
}

export function readSettings(text: string): GitSetting[] {
  const entries: GitSetting[] = [];
  let section = '';
  // A backslash joins lines and quotes hide them: a text that is not plain is never judged harmless.
  if (text.includes('\\\n') || text.includes('\0')) entries.push({ key: null, value: text });
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const header = /^\[([a-z0-9.-]+)(?:\s+"([^"\\]*)")?\]$/i.exec(line);
    if (header !== null) {
      section = [header[1]?.toLowerCase(), header[2]].filter((part) => part !== undefined).join('.');
      continue;
    }
    // To git only a newline ends a line; U+2028 and the like are part of the value.
    const entry = /^([a-z][a-z0-9-]*)\s*(?:=\s*(.*))?$/is.exec(line);
    if (entry === null) entries.push({ key: null, value: `${section}: ${line}` });
    else entries.push({ key: `${section}.${entry[1]?.toLowerCase()}`, value: entry[2] ?? '' });
  }
  return entries;
}

/** The paths to which a configuration sends git for hooks and further configuration, as they are written there. */
export function namedPaths(text: string): { hooks: string[]; includes: string[]; worktree: string | null } {
  const entries = readSettings(text).map(({ key, value }) => ({ key, value: withoutComment(value) }));
  const of = (pattern: RegExp): string[] =>
    entries.flatMap(({ key, value }) => (key !== null && value !== '' && pattern.test(key) ? [value] : []));
  return {
    hooks: of(/^core\.hookspath$/),
    includes: of(/^include(?:if\..*)?\.path$/s),
    worktree: of(/^core\.worktree$/).at(-1) ?? null,
  };
}

function withoutComment(value: string): string {
  return /^"([^"]*)"\s*(?:[#;].*)?$/s.exec(value)?.[1] ?? value.replace(/(?<!\s)\s*[#;].*$/s, '');
}

/**
 * The hook paths that the user's own configuration and the system's name for every repository. Follows one level of
 * includes. `read` returns the text of a file, empty when there is none.
 */
export function userHookPaths(home: string, read: (file: string) => string): string[] {
  const files = ['/etc/gitconfig', `${home}/.gitconfig`, `${home}/.config/git/config`];
  return files.flatMap((file) => {
    const { hooks, includes } = namedPaths(read(file));
    const folder = file.slice(0, file.lastIndexOf('/'));
    const included = includes
      .map((path) => expandHome(path, home))
      .map((path) => `${path.startsWith('/') ? '' : `${folder}/`}${path}`);
    return [...hooks, ...included.flatMap((each) => namedPaths(read(each)).hooks)];
  });
}

export function expandHome(path: string, home: string): string {
  return path.replace(/^~(?=\/)/, home);
}

/** The folder that a `.git` file leads to. Git reads the whole file, so a second line would be part of the path. */
export function parseGitdir(text: string): string | null {
  return /^gitdir: ([^\r\n]+)[\r\n]*$/.exec(text)?.[1] ?? null;
}
