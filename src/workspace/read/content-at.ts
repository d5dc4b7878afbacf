import { closeSync, type Stats } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { MAX_WHOLE_BYTES, type OpenFile, openFile, readWhole } from '../../host/open-file.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';

/** A file that a search found, opened our way. Null when there is none that may be read. The caller closes it. */
export function openAt(root: WorkspaceRoot, path: string): OpenFile | null {
  const located = root.locate(path, { last: 'keep' });
  if (!located.ok) return null;
  try {
    const file = openFile(located.value);
    return file.ok ? file.value : null;
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return null;
  } finally {
    located.value.folder.close();
  }
}

/** Returns the content of a file, of a large one the beginning. */
export function contentAt(root: WorkspaceRoot, path: string): { bytes: Buffer; stat: Stats } | null {
  const file = openAt(root, path);
  if (file === null) return null;
  try {
    return { bytes: readWhole(file, MAX_WHOLE_BYTES), stat: file.stat };
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return null;
  } finally {
    closeSync(file.fd);
  }
}

export function statAt(root: WorkspaceRoot, path: string): Stats | null {
  const located = root.locate(path, { last: 'keep' });
  if (!located.ok) return null;
  located.value.folder.close();
  return located.value.stat;
}
