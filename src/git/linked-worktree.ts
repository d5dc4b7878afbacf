import { basename, dirname } from 'node:path';
import { gitCredentialsIn } from './credentials.ts';
import { parseGitdir } from './settings.ts';

/** Access to files of the host that lie outside the workspace. */
export interface GitDataReader {
  /** The text of a file, empty when there is none. */
  read(file: string): string;
  /** The path without symlinks; null when nothing is there. */
  realPath(path: string): string | null;
}

/**
 * The folder with the data of the repository that a workspace is a linked worktree of (`git worktree add`), outside of it. Null for any
 * other workspace, also for one whose `.git` names a folder that does not name it back: what a workspace says alone opens no
 * folder of the host. Null too where the configuration there holds a password or token, or submodules have theirs.
 */
export function linkedRepository(workspace: string, { read, realPath }: GitDataReader): string | null {
  const file = `${realPath(workspace)}/.git`;
  // A symlink could be that of another worktree.
  if (realPath(file) !== file) return null;
  const named = parseGitdir(read(file));
  const own = named?.startsWith('/') ? realPath(named) : null;
  if (own === null || basename(dirname(own)) !== 'worktrees') return null;
  const repository = dirname(dirname(own));
  if (!/\.(?:git|bare)$/.test(repository) || isWithin(own, workspace) || isWithin(workspace, repository)) return null;
  if (realPath(read(`${own}/gitdir`).trim()) !== file) return null;
  // Submodules and worktrees may have configurations of their own in there.
  const others = ['modules', 'config.worktree', `worktrees/${basename(own)}/config.worktree`];
  if (others.some((name) => realPath(`${repository}/${name}`) !== null)) return null;
  return gitCredentialsIn(read(`${repository}/config`)).length > 0 ? null : repository;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
