import { closeSync, type Stats } from 'node:fs';
import { errnoOf } from '../host/errno.ts';
import { type OpenFile, openFile, readWhole, WHOLE_BYTES } from '../host/open-file.ts';
import type { Place } from './workspace-root.ts';

/** A file that a search found, opened our way. Null when there is none that may be read. The caller closes it. */
export function openAt(place: Place, path: string): OpenFile | null {
  const located = place.locate(path, { last: 'keep' });
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

/** What it holds, of a large one the beginning. */
export function contentAt(place: Place, path: string): { bytes: Buffer; stat: Stats } | null {
  const file = openAt(place, path);
  if (file === null) return null;
  try {
    return { bytes: readWhole(file, WHOLE_BYTES), stat: file.stat };
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return null;
  } finally {
    closeSync(file.fd);
  }
}

export function statAt(place: Place, path: string): Stats | null {
  const located = place.locate(path, { last: 'keep' });
  if (!located.ok) return null;
  located.value.folder.close();
  return located.value.stat;
}
