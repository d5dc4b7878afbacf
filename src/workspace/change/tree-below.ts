import { fail, ok, type Result } from '../../kernel/result.ts';
import { shown } from '../../host/parse-path.ts';
import type { Place } from '../workspace-root.ts';
import { visitTree } from '../../host/visit-tree.ts';
import type { Spot } from '../../host/walk-path.ts';

export interface Below {
  readonly paths: readonly string[];
  /** Of all of them together. */
  readonly bytes: number;
}

/**
 * The paths below a folder that is to be deleted or moved, or why it must not be: a sensitive file would change its
 * place or vanish with it, and a mount point is somebody else's. Empty for what is no folder.
 */
export async function treeBelow(place: Place, spot: Spot): Promise<Result<Below>> {
  if (!spot.stat?.isDirectory()) return ok({ paths: [], bytes: spot.stat?.size ?? 0 });
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
        const verdict = place.refuses(path);
        if (!verdict.ok) refused = inside(spot.path, verdict.error.message);
        const stat = parent.stat(name);
        bytes += stat?.size ?? 0;
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

function inside(path: string, why: string): Result<never> {
  return fail('PERMISSION_DENIED', `${shown(path)} cannot be deleted or moved as a whole: ${why}`);
}

function mounted(path: string): Result<never> {
  return fail('PERMISSION_DENIED', `${shown(path)} is a mount point: it cannot be deleted or moved.`);
}
