import type { Stats } from 'node:fs';
import { MAX_HASHED_BYTES } from '../../host/file-version.ts';
import { shortPath } from '../../host/parse-path.ts';
import { visitTree } from '../../host/visit-tree.ts';
import type { ResolvedPath } from '../../host/walk-path.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';

export interface TreeContents {
  readonly paths: readonly string[];
  /** That all of them together take on the disk: a sparse file may take almost none. */
  readonly bytes: number;
}

/**
 * Returns the paths below a folder that is to be deleted or moved; none for a file. Refuses a folder with a sensitive
 * file, which would move or vanish with it, and one with a mount point.
 */
export async function treeBelow(root: WorkspaceRoot, spot: ResolvedPath): Promise<Result<TreeContents>> {
  if (!spot.stat?.isDirectory()) return ok({ paths: [], bytes: diskBytes(spot.stat) });
  const paths: string[] = [];
  let bytes = 0;
  let refused: Result<never> | undefined;
  const device = spot.stat.dev;
  const folder = spot.folder.openChild(spot.name);
  try {
    await visitTree(
      folder,
      ({ folder: parent, name, type }) => {
        const path = parent.pathOf(name);
        const verdict = root.refuses(path, type);
        if (!verdict.ok) refused = inside(spot.path, verdict.error.message);
        const stat = parent.stat(name);
        bytes += diskBytes(stat);
        if (type === 'directory' && stat !== null && stat.dev !== device) refused ??= mounted(path);
        paths.push(path);
        return refused === undefined ? 'enter' : 'stop';
      },
      { everything: true },
    );
  } finally {
    folder.close();
  }
  return refused ?? ok({ paths, bytes });
}

/** The system allocates the blocks of what was just written later, so only those of a huge file are asked for. */
function diskBytes(stat: Stats | null): number {
  if (stat === null || stat.size <= MAX_HASHED_BYTES) return stat?.size ?? 0;
  return Math.min(stat.size, stat.blocks * BLOCK_BYTES);
}

/** The unit of `Stats.blocks`. */
const BLOCK_BYTES = 512;

function inside(path: string, why: string): Result<never> {
  return fail('PERMISSION_DENIED', `${shortPath(path)} cannot be deleted or moved as a whole: ${why}`);
}

function mounted(path: string): Result<never> {
  return fail('PERMISSION_DENIED', `${shortPath(path)} is a mount point: it cannot be deleted or moved.`);
}
