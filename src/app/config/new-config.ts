import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { makePrivateFolder } from '../../host/private-folder.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { SETTING_NAMES, SETTINGS } from './settings.ts';

/** Writes every setting as a comment with its default: the file has no effect until a line is uncommented. */
function newConfig(schemaPath: string): string {
  const lines = SETTING_NAMES.flatMap((name) => {
    const { about, fallback } = SETTINGS[name];
    return ['', `  // ${about}`, `  // "${name}": ${JSON.stringify(fallback)},`];
  });
  return [
    '{',
    ...lines,
    '',
    '  // For editors, which then complete and check this file.',
    `  "$schema": ${JSON.stringify(schemaPath)}`,
    '}',
    '',
  ].join('\n');
}

/** Fails with CONFLICT when the file exists: it is never overwritten. */
export async function writeNewConfig(path: string, schemaPath: string): Promise<Result<null>> {
  try {
    makePrivateFolder(dirname(path));
    await writeFile(path, newConfig(schemaPath), { flag: 'wx', mode: 0o600 });
    return ok(null);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST') return fail('CONFLICT', path);
    const next = 'Make its folder writable, or set XDG_CONFIG_HOME to another one.';
    return fail('EXECUTION_ERROR', `${path} cannot be written (${errno}). ${next}`);
  }
}
