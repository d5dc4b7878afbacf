import { hash } from 'node:crypto';
import { mkdirSync, realpathSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { catchErrno, errnoOf } from '../../host/errno.ts';
import { statOf } from '../../host/files.ts';
import { makePrivateFolder } from '../../host/private-folder.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { OverlayProgram } from '../stage/overlay.ts';

/** How this machine stages runs. */
export interface ChosenStages {
  readonly kind: 'overlay' | 'copy';
  /** Where stages must be made. */
  readonly folder: string;
  /** Mounts overlays; null where none can be mounted. */
  readonly program: OverlayProgram | null;
}

const SHARED_MEMORY = '/dev/shm';

/**
 * Chooses once how runs are staged. An upper layer cannot lie on every file system, as on the disk of a container, which is
 * an overlay itself: then stages are made in memory. `tryOverlay` says whether an overlay really works.
 */
export async function chooseStages(
  options: { readonly stateDir: string; readonly stages?: 'overlay' | 'copy' },
  tryOverlay: (candidate: ChosenStages) => Promise<boolean>,
): Promise<Result<ChosenStages>> {
  const folder = join(realpathSync(options.stateDir), 'stages');
  makePrivateFolder(folder);
  const copies: ChosenStages = { kind: 'copy', folder, program: null };
  if (options.stages === 'copy') return ok(copies);
  const programs: readonly OverlayProgram[] =
    process.getuid?.() === 0 ? ['unshare', 'bubblewrap'] : ['bubblewrap', 'unshare'];
  for (const place of [() => ({ folder, isNew: false }), () => memoryFolder(options.stateDir)]) {
    const found = place();
    if (found === null) continue;
    for (const program of programs) {
      const candidate: ChosenStages = { kind: 'overlay', folder: found.folder, program };
      if (await tryOverlay(candidate)) return ok(candidate);
    }
    // Stages of another process may be in one that was there.
    if (found.isNew) catchErrno(found.folder, () => ok(rmdirSync(found.folder)));
  }
  if (options.stages === undefined) return ok(copies);
  const repair =
    'Use a kernel from 5.11 on and allow user namespaces for bwrap, or let the workspace be copied for each run.';
  return fail('SANDBOX_UNAVAILABLE', `No overlay can be mounted here. ${repair}`, { repair });
}

/** The same one after a restart; null when there is none, or it is not only ours. */
function memoryFolder(stateDir: string): { readonly folder: string; readonly isNew: boolean } | null {
  const uid = process.getuid?.() ?? 0;
  const folder = join(SHARED_MEMORY, `toolwright-${uid}-${hash('sha256', stateDir, 'hex').slice(0, 16)}`);
  let isNew = true;
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') return null;
    isNew = false;
  }
  const stat = statOf(folder);
  const isPrivate = stat?.isDirectory() === true && stat.uid === uid && (stat.mode & 0o077) === 0;
  return isPrivate ? { folder, isNew } : null;
}
