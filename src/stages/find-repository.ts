import { dirname, join } from 'node:path';
import { statOf } from '../host/files.ts';
import { parentOf } from '../kernel/text/folders-above.ts';

/** The repository whose work tree a path belongs to. */
export interface PathRepository {
  /** Its folder, relative to the workspace; empty for the workspace itself. Null for one above the workspace. */
  readonly folder: string | null;
  /** False for a linked worktree or a submodule: its `.git` is a file, which leads elsewhere. */
  readonly hasOwnData: boolean;
}

/** Returns a function that finds the innermost repository of a path, which is relative to the workspace; null for none. */
export function createRepositoryFinder(workspace: string): (path: string) => PathRepository | null {
  const known = new Map<string, PathRepository | null>();

  function at(folder: string): PathRepository | null {
    const found = known.get(folder);
    if (found !== undefined) return found;
    const git = statOf(join(workspace, folder, '.git'));
    const repository = git !== undefined ? { folder, hasOwnData: git.isDirectory() } : outside(folder);
    known.set(folder, repository);
    return repository;
  }

  function outside(folder: string): PathRepository | null {
    if (folder !== '') return at(parentOf(folder));
    for (let above = dirname(workspace); ; above = dirname(above)) {
      if (statOf(join(above, '.git')) !== undefined) return { folder: null, hasOwnData: false };
      if (above === dirname(above)) return null;
    }
  }

  return (path) => at(parentOf(path));
}
