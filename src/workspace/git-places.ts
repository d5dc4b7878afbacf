import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { gitdirIn, hooksOfUser, inHome, namedPaths } from '../git/settings.ts';

export const RUNS = 'git on the host runs what stands here';
const MAKES = 'git would take its folder for a repository';

/** What makes a repository of a folder that has a HEAD, and what git obeys in one. */
const OF_REPOSITORY = new Map(
  Object.entries({ objects: MAKES, refs: MAKES, config: RUNS, 'config.worktree': RUNS, commondir: RUNS, hooks: RUNS }),
);
const MOST_BYTES = 1024 * 1024;

/**
 * Where git on the host finds programs though the names of files do not tell: any folder of the right shape is a
 * repository to it, and a configuration can name further places.
 */
export class GitPlaces {
  readonly #root: string;
  readonly #home: string | null;
  readonly #texts = new Map<string, { readonly stamp: string; readonly text: string }>();

  /** `root` is a real path; `home` is where the user's own configuration is, null when nobody knows. */
  constructor(root: string, home: string | null) {
    this.#root = root;
    this.#home = home;
  }

  /** Paths that git's configurations name: those of the repositories that the path lies in, and the user's own. */
  named(path: string): string[] {
    return foldersAbove(path).flatMap((folder) => this.#namedAt(resolve(this.#root, folder)));
  }

  /** Why git would obey a file of this path, by what stands beside it. `at` is asked for paths in the workspace. */
  byShape(path: string, at: (path: string) => Stats | null): string | null {
    const names = path.split('/');
    if (/^head$/i.test(names.at(-1) ?? '') && !at(path)?.isDirectory()) return MAKES;
    for (const [i, name] of names.entries()) {
      const why = OF_REPOSITORY.get(name.toLowerCase());
      const head = why === undefined ? null : at([...names.slice(0, i), 'HEAD'].join('/'));
      // A folder of that name is a component or the like: git takes only a file or a link for its HEAD.
      if (why === undefined || head === null || head.isDirectory()) continue;
      if (why === RUNS || at(names.slice(0, i + 1).join('/')) === null) return why;
    }
    return null;
  }

  #namedAt(top: string): string[] {
    const configs = this.#configsOf(top);
    if (configs.length === 0) return [];
    const home = this.#home ?? '~';
    const everywhere = this.#home === null ? [] : hooksOfUser(this.#home, (file) => this.#read(file));
    const paths = configs.flatMap((config) => {
      const { hooks, includes, worktree } = namedPaths(this.#read(config));
      const tops = worktree === null ? [top] : [top, resolve(dirname(config), worktree)];
      return [
        ...includes.map((each) => resolve(dirname(config), inHome(each, home))),
        ...tops.flatMap((each) => [...hooks, ...everywhere].map((named) => resolve(each, inHome(named, home)))),
      ];
    });
    return [...paths, ...paths.map(realOrSame)]
      .map((each) => relative(this.#root, each))
      .filter((each) => each !== '' && !/^\.\.(\/|$)/.test(each));
  }

  /** The configurations of the repository whose files begin at this folder. */
  #configsOf(top: string): string[] {
    const git = `${top}/.git`;
    const stat = statOf(git);
    if (stat === undefined) return [];
    const led = stat.isDirectory() ? git : gitdirIn(this.#read(git));
    if (led === null) return [];
    const folder = resolve(top, led);
    const common = resolve(folder, this.#read(`${folder}/commondir`).trimEnd());
    return [`${common}/config`, `${folder}/config.worktree`];
  }

  /** Empty when there is none. Read again only when it changed. */
  #read(file: string): string {
    const stat = statOf(file);
    if (!stat?.isFile() || stat.size > MOST_BYTES) return '';
    const stamp = `${stat.ino}:${stat.size}:${stat.ctimeMs}`;
    const known = this.#texts.get(file);
    if (known?.stamp === stamp) return known.text;
    try {
      const text = readFileSync(file, 'utf8');
      this.#texts.set(file, { stamp, text });
      return text;
    } catch {
      return '';
    }
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Outermost first, beginning with the root. */
function foldersAbove(path: string): string[] {
  const names = path.split('/');
  return names.map((_, i) => names.slice(0, i).join('/'));
}
