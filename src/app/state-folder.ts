import { accessSync, constants, mkdirSync } from 'node:fs';
import { fail, ok, type Result } from '../kernel/result.ts';

/** Makes the folder in which Toolwright keeps its record, for its owner alone, or says what to do where that cannot be. */
export function makeStateFolder(folder: string): Result<void> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
    return ok(undefined);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    const next = 'Make it writable, or name another folder: TOOLWRIGHT_STATE_DIR=/folder.';
    return fail('NOT_CONFIGURED', `Toolwright cannot write its record in ${folder} (${code}). ${next}`);
  }
}
