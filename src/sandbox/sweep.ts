import { existsSync, renameSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { failpoint } from '../kernel/failpoint.ts';
import type { Quarantined } from '../kernel/sandbox.ts';
import type { Found } from './found.ts';
import { addsNoRisk, isHarmlessGitConfig } from './git-config.ts';
import { type GitMemory, hooksIn, isGitConfig, isGitHooks, isOwnGitFile, stateOf } from './git-folders.ts';
import { inFolder, readInside } from './inside.ts';

/**
 * After a live run: what it created where the host would execute or obey it is renamed, so that nothing is lost and
 * nothing happens. So is what changed in a protected place of git, since a rename on the host lifts its protection.
 * Every path is walked over open folders without following links, since a process that still runs could put one there.
 */
export function sweep(
  workspace: string,
  before: readonly Found[],
  after: readonly Found[],
  memory: GitMemory,
): Quarantined[] {
  const known = new Map(before.map((found) => [found.path, found.kind]));
  const isChanged = (found: Found): boolean =>
    known.get(found.path) !== found.kind || memory.get(found.path) !== stateOf(workspace, found);
  return after
    .filter(({ access, because }) => (access === 'read-only' && because !== 'alias') || because === 'unreadable')
    .filter(({ path }) => !path.includes(SUFFIX))
    .filter(isChanged)
    .flatMap((found) => judge(workspace, found, memory.get(found.path)));
}

const SUFFIX = '.quarantined';

function judge(workspace: string, found: Found, before: string | undefined): Quarantined[] {
  const { path } = found;
  const reason = found.rule?.reason ?? 'the host would obey it';
  const quarantine = (each: string): Quarantined[] => moveAside(workspace, each, reason);
  if (found.because === 'unreadable') return moveAside(workspace, path, 'nobody can look into it');
  if (isGitHooks(found)) {
    const known = new Set(before?.split('\n'));
    return hooksIn(workspace, path)
      .filter(({ name, state }) => !known.has(state) && !name.includes(SUFFIX))
      .flatMap(({ name }) => quarantine(`${path}/${name}`));
  }
  if (isGitConfig(found)) {
    const text = readInside(workspace, path);
    if (isHarmlessGitConfig(text)) return [];
    return text !== null && before !== undefined && addsNoRisk(before, text) ? [] : quarantine(path);
  }
  return isOwnGitFile(workspace, found) ? [] : quarantine(path);
}

function moveAside(workspace: string, path: string, reason: string): Quarantined[] {
  const name = basename(path);
  const movedTo = inFolder(workspace, dirname(path), (folder) => {
    for (let i = 1; i < 1000; i++) {
      const candidate = `${name}${SUFFIX}${i === 1 ? '' : `-${i}`}`;
      if (existsSync(`${folder}/${candidate}`)) continue;
      failpoint('sandbox.before_rename');
      renameSync(`${folder}/${name}`, `${folder}/${candidate}`);
      failpoint('sandbox.after_rename');
      return [candidate];
    }
    return [];
  })[0];
  if (movedTo === undefined) return [];
  return [{ path, movedTo: dirname(path) === '.' ? movedTo : `${dirname(path)}/${movedTo}`, reason }];
}
