import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { SETTING_NAMES, SETTINGS } from './settings.ts';

/** Every setting as a comment with its default: a file that changes nothing until a line is uncommented. */
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

/** CONFLICT when a file is there: it is never overwritten. */
export async function writeNewConfig(path: string, schemaPath: string): Promise<Result<null>> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, newConfig(schemaPath), { flag: 'wx', mode: 0o600 });
    return ok(null);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return fail('CONFLICT', path);
    const next = 'Make its folder writable, or set XDG_CONFIG_HOME to another one.';
    return fail('EXECUTION_ERROR', `${path} cannot be written (${code}). ${next}`);
  }
}
