import { fail, type Result } from '../kernel/result.ts';
import { shortPath } from './parse-path.ts';

const ANSWERS: Record<
  string,
  [code: 'FILE_NOT_FOUND' | 'INVALID_PATH' | 'PERMISSION_DENIED' | 'EXECUTION_ERROR', text: string]
> = {
  ENOENT: ['FILE_NOT_FOUND', 'was not found. Check the path, or list the folder.'],
  ENOTDIR: ['INVALID_PATH', 'leads through a file as if it were a folder.'],
  EISDIR: ['INVALID_PATH', 'is a folder.'],
  ELOOP: ['INVALID_PATH', 'leads through too many links.'],
  ENAMETOOLONG: ['INVALID_PATH', 'is too long for the file system.'],
  EILSEQ: ['INVALID_PATH', 'holds characters that the file system cannot keep.'],
  EINVAL: ['INVALID_PATH', 'cannot be used that way.'],
  ENXIO: ['INVALID_PATH', 'is a socket or a device, not a file.'],
  ENOTEMPTY: ['INVALID_PATH', 'is a folder that is not empty.'],
  EACCES: ['PERMISSION_DENIED', 'may not be used by this user: the system refused.'],
  EPERM: ['PERMISSION_DENIED', 'may not be changed: the system refused.'],
  EROFS: ['PERMISSION_DENIED', 'is on a read-only file system.'],
  EBUSY: ['PERMISSION_DENIED', 'is in use by the system, such as a mount point.'],
  ENOSPC: [
    'EXECUTION_ERROR',
    'could not be written: the disk is full. Nothing was changed; free some space and try again.',
  ],
  EDQUOT: ['EXECUTION_ERROR', 'could not be written: the quota is used up. Nothing was changed.'],
  EFBIG: ['EXECUTION_ERROR', 'could not be written: it is larger than the system allows. Nothing was changed.'],
  EMFILE: ['EXECUTION_ERROR', 'could not be opened: too many files are open. Try again.'],
  ENFILE: ['EXECUTION_ERROR', 'could not be opened: too many files are open on this machine. Try again.'],
  EIO: ['EXECUTION_ERROR', 'could not be read or written: the disk reports an error.'],
  EXDEV: ['EXECUTION_ERROR', 'is on another file system.'],
};

export function errnoOf(thrown: unknown): string | undefined {
  const code = (thrown as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** Turns an error of the system into a failure. Any other error is a bug and is thrown again. */
export function errnoFailure(thrown: unknown, path: string): Result<never> {
  const errno = errnoOf(thrown);
  if (errno === undefined) throw thrown;
  const [code, text] = ANSWERS[errno] ?? ['EXECUTION_ERROR', `could not be used: the system answered ${errno}.`];
  return fail(code, `${shortPath(path)} ${text}`, { path: shortPath(path), errno });
}

/** Runs system calls and returns their errors as failures. */
export function catchErrno<T>(path: string, work: () => Result<T>): Result<T> {
  try {
    return work();
  } catch (thrown) {
    return errnoFailure(thrown, path);
  }
}

export async function catchErrnoAsync<T>(path: string, work: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await work();
  } catch (thrown) {
    return errnoFailure(thrown, path);
  }
}
