import { dirname, relative, resolve } from 'node:path';
import { foldersAbove } from '../kernel/text/folders-above.ts';
import type { ProtectedPath } from '../kernel/world/protected-path.ts';
import type { FileRule } from '../kernel/world/sensitive-files.ts';
import { expandHome, namedPaths, parseGitdir, userHookPaths } from './settings.ts';

/**
 * Paths that git on the host obeys: by name (`.git`; the other names are in `PROTECTED_FILES`), by shape (any folder that looks like a repository is one to git) and
 * by configuration (`core.hooksPath`, `include.path`). File tools ask for one path (`ObeyedPaths`), the sandbox asks for
 * the entries of each folder; both use the tables of this file, so that they agree (decision 0100).
 */

const REPOSITORY_RULE: FileRule = {
  pattern: 'config, hooks and commondir of any repository',
  access: 'read-only',
  reason: 'git on the host can run programs from it',
};
const GIT_FILE_RULE: FileRule = {
  ...REPOSITORY_RULE,
  pattern: '.git',
  reason: 'it tells git where to find hooks',
};
export const CONFIGURED_RULE: FileRule = { ...REPOSITORY_RULE, pattern: 'core.hooksPath and include.path' };

/** Entries of a repository that git obeys. */
const OBEYED_NAMES = new Set(['config', 'config.worktree', 'commondir', 'hooks']);
/** Entries that make a folder with a HEAD a repository. */
const REPOSITORY_NAMES = new Set(['objects', 'refs']);
const MAKES_REPOSITORY = 'git would take its folder for a repository';

/** Whether git takes a folder with these entries for a repository. The conditions are those of git itself. */
export function isRepository(names: readonly string[]): boolean {
  const has = (name: string): boolean =>
    names.some((each) => each.length === name.length && each.toLowerCase() === name);
  return has('head') && (has('commondir') || (has('objects') && has('refs')));
}

/** The rule for a `.git` that is a file or a symlink: it leads git to another folder. */
export function gitFileRule(name: string, kind: ProtectedPath['kind']): FileRule | null {
  return kind !== 'directory' && name.length === 4 && name.toLowerCase() === '.git' ? GIT_FILE_RULE : null;
}

/** The rule for an entry of a folder that is a repository. */
export function repositoryEntryRule(name: string): FileRule | null {
  return OBEYED_NAMES.has(name.toLowerCase()) ? REPOSITORY_RULE : null;
}

/** Whether git would obey a protected path, rather than an editor or another program. */
export function isObeyedByGit(path: string, rule: FileRule | null): boolean {
  return rule === GIT_FILE_RULE || liesInRepository(path, rule);
}

export function liesInRepository(path: string, rule: FileRule | null): boolean {
  return rule === REPOSITORY_RULE || /(^|\/)\.git\//i.test(path);
}

/** Whether a path is a `.git` or lies below one, by its name. */
export function isGitPath(path: string): boolean {
  return /(^|\/)\.git(\/|$)/i.test(path);
}

export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  /** Folders from which relative hook paths may start. A worktree that the text names is added. */
  readonly tops: readonly string[];
}

export interface UserGitSettings {
  readonly home: string;
  /** Hook folders that the user's own configuration names for every repository. */
  readonly hooks: readonly string[];
}

export interface ConfiguredPaths {
  /** Absolute, as far as they were resolved. */
  readonly paths: readonly string[];
  /** False: the configuration names more than `max` hooks or includes. */
  readonly complete: boolean;
}

/** The paths to which one configuration sends git for hooks and for further configuration. */
export function configuredPaths(
  { path, text, tops }: ConfigFile,
  { home, hooks: userHooks }: UserGitSettings,
  max = Number.POSITIVE_INFINITY,
): ConfiguredPaths {
  const { hooks, includes, worktree } = namedPaths(text);
  const folder = dirname(path);
  const starts = worktree === null ? tops : [...tops, resolve(folder, worktree)];
  const hookPaths = [...hooks.slice(0, max), ...userHooks];
  const at = (start: string, named: string): string => resolve(start, expandHome(named, home));
  return {
    paths: [
      ...includes.slice(0, max).map((each) => at(folder, each)),
      ...starts.flatMap((start) => hookPaths.map((each) => at(start, each))),
    ],
    complete: hooks.length + includes.length <= max,
  };
}

/** Reads the files that git reads. Symlinks are followed, as git follows them. */
export interface GitFileReader {
  /** Empty when there is no such file. */
  read(file: string): string;
  kindAt(path: string): 'directory' | 'other' | null;
  /** The path itself when it cannot be resolved. */
  realPath(path: string): string;
}

/** Says of single paths in a workspace why git on the host would obey them. */
export class ObeyedPaths {
  readonly #root: string;
  readonly #home: string | null;
  readonly #files: GitFileReader;

  /** `root` is a real path; `home` holds the user's own configuration, null when it is unknown. */
  constructor(root: string, home: string | null, files: GitFileReader) {
    this.#root = root;
    this.#home = home;
    this.#files = files;
  }

  /** Paths in the workspace that git's configurations name: those of the repositories around `path`, and the user's own. */
  configuredFor(path: string): string[] {
    return ['', ...foldersAbove(path)].flatMap((folder) => this.#configuredAt(resolve(this.#root, folder)));
  }

  /** `configured` are the paths of `configuredFor`; `stat` looks a path of the workspace up, null when nothing is there. */
  reasonFor(path: string, configured: readonly string[], stat: StatPath): string | null {
    const lower = `${path}/`.toLowerCase();
    const isConfigured = configured.some((each) => lower.startsWith(`${each}/`.toLowerCase()));
    return isConfigured ? REPOSITORY_RULE.reason : reasonByShape(path, stat);
  }

  #configuredAt(top: string): string[] {
    const configs = this.#configsAt(top);
    if (configs.length === 0) return [];
    const read = (file: string): string => this.#files.read(file);
    const user = {
      home: this.#home ?? '~',
      hooks: this.#home === null ? [] : userHookPaths(this.#home, read),
    };
    const paths = configs.flatMap((path) => configuredPaths({ path, text: read(path), tops: [top] }, user).paths);
    return [...paths, ...paths.map((each) => this.#files.realPath(each))]
      .map((each) => relative(this.#root, each))
      .filter((each) => each !== '' && !/^\.\.(\/|$)/.test(each));
  }

  /** The configuration files of the repository whose working tree begins at this folder. */
  #configsAt(top: string): string[] {
    const git = `${top}/.git`;
    const kind = this.#files.kindAt(git);
    if (kind === null) return [];
    const gitdir = kind === 'directory' ? git : parseGitdir(this.#files.read(git));
    if (gitdir === null) return [];
    const folder = resolve(top, gitdir);
    const common = resolve(folder, this.#files.read(`${folder}/commondir`).trimEnd());
    return [`${common}/config`, `${folder}/config.worktree`];
  }
}

type StatPath = (path: string) => { isDirectory(): boolean } | null;

/** Why git would obey a file of this path, judged by the entries beside it. */
function reasonByShape(path: string, stat: StatPath): string | null {
  const names = path.split('/');
  if (/^head$/i.test(names.at(-1) ?? '') && !stat(path)?.isDirectory()) return MAKES_REPOSITORY;
  for (const [i, name] of names.entries()) {
    const lower = name.toLowerCase();
    const isObeyed = OBEYED_NAMES.has(lower);
    if (!isObeyed && !REPOSITORY_NAMES.has(lower)) continue;
    const head = stat([...names.slice(0, i), 'HEAD'].join('/'));
    // A folder called HEAD is none to git: only a file or a symlink is.
    if (head === null || head.isDirectory()) continue;
    if (isObeyed) return REPOSITORY_RULE.reason;
    if (stat(names.slice(0, i + 1).join('/')) === null) return MAKES_REPOSITORY;
  }
  return null;
}
