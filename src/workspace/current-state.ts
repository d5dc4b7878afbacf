import { closeSync } from 'node:fs';
import { openFile, readWhole } from '../host/open-file.ts';
import type { Place } from './workspace-root.ts';
import { typeOf } from '../host/visit-tree.ts';
import { digestOf } from './version.ts';
import { type Spot, wouldBeOf } from '../host/walk-path.ts';

/** What stands at a path now, for comparing with what a change left there. */
export interface State {
  /** `elsewhere`: a folder above is a link by now, so the path no longer means this place. */
  readonly type: 'file' | 'directory' | 'symlink' | 'other' | 'nothing' | 'elsewhere';
  readonly inode: number;
  readonly modifiedMs: number;
  /** Of a file that is not too large. */
  readonly digest: string | null;
}

const NOTHING: State = { type: 'nothing', inode: 0, modifiedMs: 0, digest: null };
const ELSEWHERE: State = { ...NOTHING, type: 'elsewhere' };
const MAX_BYTES = 64 * 1024 * 1024;

export function stateOf(place: Place, path: string): State {
  const located = place.locate(path, { last: 'keep' });
  if (!located.ok) return (wouldBeOf(located)?.place ?? path) === path ? NOTHING : ELSEWHERE;
  const spot = located.value;
  try {
    if (spot.path !== path) return ELSEWHERE;
    if (spot.stat === null) return NOTHING;
    const { ino: inode, mtimeMs: modifiedMs } = spot.stat;
    return { type: typeOf(spot.stat), inode, modifiedMs, digest: digestAt(spot) };
  } finally {
    spot.folder.close();
  }
}

/** Null for what is no file, or a very large one. */
export function digestAt(spot: Spot, digest: (bytes: Buffer) => string = digestOf): string | null {
  if (!spot.stat?.isFile() || spot.stat.size > MAX_BYTES) return null;
  const file = openFile(spot);
  if (!file.ok) return null;
  try {
    return digest(readWhole(file.value, MAX_BYTES));
  } finally {
    closeSync(file.value.fd);
  }
}
