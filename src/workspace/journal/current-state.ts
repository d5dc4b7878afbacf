import { closeSync } from 'node:fs';
import { digestsOf } from '../../host/file-version.ts';
import { openFile, readWhole } from '../../host/open-file.ts';
import { typeOf } from '../../host/visit-tree.ts';
import { missingPathOf, type ResolvedPath } from '../../host/walk-path.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';

/** The state of a path now, to compare with the state that a change left. */
export interface PathState {
  /** `elsewhere`: a folder above became a symlink, so the path leads to another place. */
  readonly type: 'file' | 'directory' | 'symlink' | 'other' | 'nothing' | 'elsewhere';
  readonly inode: number;
  readonly modifiedMs: number;
  readonly mode: number;
  /** Of a file that is not too large: that of its content, and of an index of git also that of what it says. */
  readonly digests: readonly string[];
}

const NOTHING: PathState = { type: 'nothing', inode: 0, modifiedMs: 0, mode: 0, digests: [] };
const ELSEWHERE: PathState = { ...NOTHING, type: 'elsewhere' };
const MAX_BYTES = 64 * 1024 * 1024;

/** `name`: without its content. */
export function stateOf(root: WorkspaceRoot, path: string, depth: 'name' | 'content' = 'content'): PathState {
  const located = root.locate(path, { last: 'keep' });
  if (!located.ok) return (missingPathOf(located)?.path ?? path) === path ? NOTHING : ELSEWHERE;
  const spot = located.value;
  try {
    if (spot.path !== path) return ELSEWHERE;
    if (spot.stat === null) return NOTHING;
    const { ino: inode, mtimeMs: modifiedMs } = spot.stat;
    const digests = depth === 'content' ? digestsAt(spot) : [];
    return { type: typeOf(spot.stat), inode, modifiedMs, mode: spot.stat.mode & 0o7777, digests };
  } finally {
    spot.folder.close();
  }
}

/** None for a path that is no file, and for a very large file. */
function digestsAt(spot: ResolvedPath): readonly string[] {
  if (!spot.stat?.isFile() || spot.stat.size > MAX_BYTES) return [];
  const file = openFile(spot);
  if (!file.ok) return [];
  try {
    return digestsOf(spot.name, readWhole(file.value, MAX_BYTES));
  } finally {
    closeSync(file.value.fd);
  }
}
