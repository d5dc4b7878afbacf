import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import { statOf } from '../host/files.ts';
import { readTextInside } from '../host/read-inside.ts';
import { kindOf, type ProtectedPath } from '../kernel/world/protected-path.ts';
import { createYielder } from '../kernel/yielding.ts';
import { CONFIGURED_RULE, configuredPaths, liesInRepository } from './obeyed-paths.ts';
import { userHookPaths } from './settings.ts';

/** No project names as many, and each is looked for: a run may plant a configuration that names any number. */
const MAX_NAMED = 100;

/**
 * Finds the entries of the workspace to which the configurations among `found` send git. A configuration that names too
 * many is returned itself, as one that could not be read.
 */
export async function findConfiguredPaths(
  workspace: string,
  found: readonly ProtectedPath[],
  home: string,
): Promise<ProtectedPath[]> {
  const known = new Set(found.map(({ path }) => path));
  const configs = found.filter(isGitConfig);
  const user = { home, hooks: configs.length === 0 ? [] : userHookPaths(home, readText) };
  const yielder = createYielder();
  const result: ProtectedPath[] = [];
  for (const config of configs) {
    const path = resolve(workspace, config.path);
    const text = readTextInside(workspace, config.path) ?? '';
    // Hooks are named from the top of the working tree; a bare repository is its own.
    const tops = [dirname(path), dirname(dirname(path))];
    const { paths, complete } = configuredPaths({ path, text, tops }, user, MAX_NAMED);
    if (!complete) result.push({ ...config, because: 'failed' });
    for (const each of paths) {
      result.push(...entryAt(workspace, relative(workspace, each)).filter((entry) => !known.has(entry.path)));
      if (yielder.isDue()) await yielder.pause();
    }
    if (yielder.isDue()) await yielder.pause();
  }
  return result;
}

function entryAt(workspace: string, path: string): ProtectedPath[] {
  if (path === '' || path === '..' || path.startsWith('../')) return [];
  const stat = statOf(`${workspace}/${path}`);
  return stat === undefined ? [] : [{ path, kind: kindOf(stat), access: 'read-only', rule: CONFIGURED_RULE }];
}

function readText(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}

function isGitConfig({ path, kind, rule }: ProtectedPath): boolean {
  return (
    kind === 'file' && (rule === CONFIGURED_RULE || (liesInRepository(path, rule) && /^config/i.test(basename(path))))
  );
}
