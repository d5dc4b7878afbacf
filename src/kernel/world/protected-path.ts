import { fail, type Result } from '../result.ts';
import type { FileRule } from './sensitive-files.ts';

/** A path in the workspace that the file policy does not leave writable. */
export interface ProtectedPath {
  /** Relative to the workspace. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
  readonly access: 'hidden' | 'read-only';
  readonly rule: FileRule | null;
  /**
   * `alias`: another name of a listed file. `target`: a protected symlink leads there. `unreadable`: it cannot be listed,
   * so all of it is hidden. `failed`: it could not be read now, as when file descriptors are short, or it holds too much;
   * its content is unknown. `unnameable`: its name is no valid text, so that nothing can be mounted there, and `path` is
   * only nearly right. `unread`: a file whose content was not looked into yet.
   */
  readonly because?: 'alias' | 'target' | 'unreadable' | 'failed' | 'unnameable' | 'unread';
  /** The kind of secret for which a file is hidden by its content. */
  readonly secret?: string;
  /**
   * It lies in a folder that is walked only because a symlink leads there. A read-only path of this kind is left
   * writable where nothing is staged: a package manager must be able to replace it with all the folders above.
   */
  readonly viaSymlink?: true;
}

/** As node:fs lists a folder. */
interface FolderEntry {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

export function kindOf(entry: FolderEntry): ProtectedPath['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}

/** False for a symlink: its target is masked, which the scan lists as well. */
export function isMasked({ access, kind }: ProtectedPath): boolean {
  return access === 'hidden' && kind !== 'symlink';
}

/** The files among the paths that a run cannot read. */
export function hiddenFiles(found: readonly ProtectedPath[]): readonly string[] {
  return found.filter((each) => each.kind === 'file' && isMasked(each)).map(({ path }) => path);
}

/** The error for a path whose content is unknown: nothing runs where some of it may have to be hidden. */
export function unreadableError(workspace: string, { path, kind }: ProtectedPath): Result<never> {
  if (kind === 'file') {
    const names = 'names more hooks and includes for git than can be protected';
    return fail('SANDBOX_UNAVAILABLE', `${workspace}/${path} ${names}: remove those that are not needed.`);
  }
  const repair = 'Try again when fewer files are open, and check that its disk can be read.';
  return fail(
    'SANDBOX_UNAVAILABLE',
    `${workspace}/${path} could not be read, so that files in it could not be protected. ${repair}`,
  );
}
