import { closeSync } from 'node:fs';
import { catchErrno } from '../../host/errno.ts';
import { MAX_WHOLE_BYTES, openFile, readWhole } from '../../host/open-file.ts';
import { ok } from '../../kernel/result.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';

/** The content of a file, through symlinks. `unknown`: it is there and is no file that can be held and compared. */
export function wholeContent(root: WorkspaceRoot, path: string): Buffer | 'absent' | 'unknown' {
  const place = root.locate(path, { last: 'follow' });
  if (!place.ok) return place.error.code === 'FILE_NOT_FOUND' ? 'absent' : 'unknown';
  const spot = place.value;
  if (spot.stat === null) {
    spot.folder.close();
    return 'absent';
  }
  const read = catchErrno(path, () => {
    const file = openFile(spot);
    if (!file.ok) return file;
    try {
      return ok(file.value.stat.size > MAX_WHOLE_BYTES ? null : readWhole(file.value, MAX_WHOLE_BYTES));
    } finally {
      closeSync(file.value.fd);
    }
  });
  spot.folder.close();
  return (read.ok ? read.value : null) ?? 'unknown';
}
