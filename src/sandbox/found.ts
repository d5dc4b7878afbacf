import type { Dirent } from 'node:fs';
import type { FileRule } from '../kernel/file-policy.ts';
import { fail, type Result } from '../kernel/result.ts';

/** A path in the workspace that the file policy does not leave writable. */
export interface Found {
  /** Relative to the workspace. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly access: 'hidden' | 'read-only';
  readonly rule: FileRule | null;
  /**
   * `alias`: another name of something listed. `target`: a protected link leads there. `unreadable`: nobody can look into
   * it, so all of it is hidden. `failed`: the system could not read it now, as when descriptors are short, or there is too
   * much in it; nobody knows what is in it. `unnameable`: its name is no text, so that nothing can be mounted there; `path` is only
   * nearly right.
   */
  readonly because?: 'alias' | 'target' | 'unreadable' | 'failed' | 'unnameable';
  /**
   * It lies where nothing is walked, and a link leads there. What is read-only is then not mounted but compared after the
   * run: a package manager has to be able to replace it with all the folders above.
   */
  readonly linked?: true;
}

export function kindOf(entry: Pick<Dirent, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): Found['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

/** False for what is only compared after a run. */
export function isHeld({ access, linked }: Found): boolean {
  return access === 'hidden' || linked !== true;
}

/** Nothing runs where nobody knows what is to be hidden. */
export function notLooked(workspace: string, { path, kind }: Found): Result<never> {
  if (kind === 'file') {
    const names = 'sends git to more folders and files than are looked for, so that not all of them could be protected';
    return fail('SANDBOX_UNAVAILABLE', `${workspace}/${path} ${names}: remove what nobody needs from it.`);
  }
  const repair = 'Try again when fewer files are open, and see that its disk can be read.';
  return fail(
    'SANDBOX_UNAVAILABLE',
    `${workspace}/${path} could not be looked into, so that nothing in it could be protected. ${repair}`,
  );
}
