import { fchmodSync, fchownSync, lchownSync } from 'node:fs';
import { errnoOf } from '../host/errno.ts';

/** What a file is like, apart from its content. */
export interface Dress {
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Gives a new file the owner and the mode of the one it stands for. Only a privileged process can give a file away; others
 * keep their own, and then it must not run with their rights. The owner first: changing it takes those bits away.
 */
export function dress(fd: number, like: Dress): void {
  const isGiven = give(like, (uid, gid) => fchownSync(fd, uid, gid));
  fchmodSync(fd, like.mode & (isGiven ? 0o7777 : 0o1777));
}

export function dressLink(path: string, like: Dress): void {
  give(like, (uid, gid) => lchownSync(path, uid, gid));
}

/** Not allowed, of a user that is not known here, or on a file system without owners. */
const CANNOT_GIVE = new Set(['EPERM', 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

function give({ uid, gid }: Dress, chown: (uid: number, gid: number) => void): boolean {
  if (uid === undefined || gid === undefined) return false;
  try {
    chown(uid, gid);
    return true;
  } catch (thrown) {
    if (!CANNOT_GIVE.has(errnoOf(thrown) ?? '')) throw thrown;
    return false;
  }
}
