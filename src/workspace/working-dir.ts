import { realpathSync } from 'node:fs';
import { fail, type Result } from '../kernel/result.ts';
import type { Files, Search } from '../kernel/world/workspace.ts';
import { shown } from '../host/parse-path.ts';
import type { Place } from './workspace-root.ts';

/** Whether a call works in this workspace. Most say so with the very path it was opened by. */
export function isHere(workingDir: string, { names }: Place): boolean {
  if (workingDir === names.real || workingDir === names.given) return true;
  try {
    return realpathSync(workingDir) === names.real;
  } catch {
    return false;
  }
}

/** Touching the files of another folder than the call means would be worse than no answer. */
export function elsewhere(workingDir: string, { names }: Place): { files: Files; search: Search } {
  const refuse = (): Result<never> =>
    fail(
      'NOT_CONFIGURED',
      `The call works in ${shown(workingDir)}, but the workspace is ${names.real}: set workingDir to it.`,
    );
  const later = async () => refuse();
  return {
    files: {
      inspect: refuse,
      list: later,
      readWindow: later,
      readText: later,
      readBytes: later,
      apply: later,
      rehearse: later,
      suggest: async () => [],
      secretIn: async () => null,
    },
    search: { glob: later, grep: later },
  };
}
