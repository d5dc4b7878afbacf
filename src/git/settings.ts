/** One line of a configuration of git. */
interface Setting {
  /** `section.subsection.name`, or null when the line is not plain. */
  readonly key: string | null;
  readonly value: string;
}

export function readSettings(text: string): Setting[] {
  const entries: Setting[] = [];
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
    // To git only a newline ends a line; U+2028 and the like are part of the value.
    const entry = /^([a-z][a-z0-9-]*)\s*(?:=\s*(.*))?$/is.exec(line);
    if (entry === null) entries.push({ key: null, value: `${section}: ${line}` });
    else entries.push({ key: `${section}.${entry[1]?.toLowerCase()}`, value: entry[2] ?? '' });
  }
  return entries;
}

/** Where a configuration sends git for hooks and further configuration. As written there. */
export function namedPaths(text: string): { hooks: string[]; includes: string[]; worktree: string | null } {
  const entries = readSettings(text).map(({ key, value }) => ({ key, value: withoutRemark(value) }));
  const of = (pattern: RegExp): string[] =>
    entries.flatMap(({ key, value }) => (key !== null && value !== '' && pattern.test(key) ? [value] : []));
  return {
    hooks: of(/^core\.hookspath$/),
    includes: of(/^include(?:if\..*)?\.path$/s),
    worktree: of(/^core\.worktree$/).at(-1) ?? null,
  };
}

function withoutRemark(value: string): string {
  return /^"([^"]*)"\s*(?:[#;].*)?$/s.exec(value)?.[1] ?? value.replace(/(?<!\s)\s*[#;].*$/s, '');
}

/**
 * Where the user's own configuration and the system's send git for hooks, in any repository. One level of includes.
 * `read` gives the text of a file, empty when there is none.
 */
export function hooksOfUser(home: string, read: (file: string) => string): string[] {
  const files = ['/etc/gitconfig', `${home}/.gitconfig`, `${home}/.config/git/config`];
  return files.flatMap((file) => {
    const { hooks, includes } = namedPaths(read(file));
    const folder = file.slice(0, file.lastIndexOf('/'));
    const included = includes
      .map((path) => inHome(path, home))
      .map((path) => `${path.startsWith('/') ? '' : `${folder}/`}${path}`);
    return [...hooks, ...included.flatMap((each) => namedPaths(read(each)).hooks)];
  });
}

export function inHome(path: string, home: string): string {
  return path.replace(/^~(?=\/)/, home);
}

/** Where a file called `.git` leads. Git takes all of the file, so a second line would be part of the path. */
export function gitdirIn(text: string): string | null {
  return /^gitdir: ([^\r\n]+)[\r\n]*$/.exec(text)?.[1] ?? null;
}
