import { accessSync, constants } from 'node:fs';
import { errnoOf } from '../host/errno.ts';
import { makePrivateFolder } from '../host/private-folder.ts';
import { fail, ok, type Result } from '../kernel/result.ts';

/**
 * Makes the folder in which Toolwright keeps its record, for its owner alone, or says what to do where that cannot be.
 */
export function makeStateDir(stateDir: string): Result<void> {
  try {
    makePrivateFolder(stateDir);
    accessSync(stateDir, constants.W_OK | constants.X_OK);
    return ok(undefined);
  } catch (error) {
    const next = 'Make it writable, or name another folder: TOOLWRIGHT_STATE_DIR=/folder.';
    return fail(
      'NOT_CONFIGURED',
      `Toolwright cannot write its record in ${stateDir} (${errnoOf(error) ?? 'unknown error'}). ${next}`,
    );
  }
}
