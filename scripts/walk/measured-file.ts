import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export const MEASURED_CALLS = 8;

/** A file of src/ of which functions ran in every measured call. */
export interface MeasuredFile {
  readonly file: string;
  /** By name; that of a callback is empty. */
  readonly functions: readonly string[];
  /** The lines of these functions. */
  readonly lines: number;
}

/** Without optimised code: V8 does not count functions that it inlined. */
const NO_INLINING = ['--no-opt', '--no-maglev'];

export function measureCall(): MeasuredFile[] {
  const program = join(import.meta.dirname, '..', 'measure-call.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [...NO_INLINING, program], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`scripts/measure-call.ts could not measure a call:\n${stderr}`);
  return JSON.parse(stdout) as MeasuredFile[];
}
