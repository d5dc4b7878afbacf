import { fchmodSync, fchownSync, lchownSync } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';

/** Mode and owner of a file. */
export interface FileOwnership {
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Gives a new file the mode and owner of the file it replaces. Only a privileged process can change the owner; otherwise
 * the setuid and setgid bits are dropped, so that the file does not run with our rights. The owner goes first, since
 * changing it clears those bits.
 */
export function copyOwnership(fd: number, like: FileOwnership): void {
  const isGiven = give(like, (uid, gid) => fchownSync(fd, uid, gid));
  fchmodSync(fd, like.mode & (isGiven ? 0o7777 : 0o1777));
}

export function copySymlinkOwnership(path: string, like: FileOwnership): void {
  give(like, (uid, gid) => lchownSync(path, uid, gid));
}

/** Not permitted, an owner that is not known here, or a file system without owners. */
const CANNOT_GIVE = new Set(['EPERM', 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

function give({ uid, gid }: FileOwnership, chown: (uid: number, gid: number) => void): boolean {
  if (uid === undefined || gid === undefined) return false;
  try {
    chown(uid, gid);
    return true;
  } catch (thrown) {
    if (!CANNOT_GIVE.has(errnoOf(thrown) ?? '')) throw thrown;
    return false;
  }
}
