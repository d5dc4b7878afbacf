import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { failpoint } from '../kernel/failpoint.ts';
import type { Quarantined } from '../kernel/sandbox.ts';
import type { Found } from './tree-scan.ts';

/**
 * After a live run: what it created where the host would execute or obey it is renamed, so that nothing is lost and
 * nothing happens. Every path is walked over open folders without following links, since a process that still runs
 * could put one there.
 */
export function sweep(workspace: string, before: readonly Found[], after: readonly Found[]): Quarantined[] {
  const known = new Map(before.map((found) => [found.path, found.kind]));
  return after
    .filter(({ access, because }) => (access === 'read-only' && because !== 'alias') || because === 'unreadable')
    .filter(({ path, kind }) => known.get(path) !== kind)
    .filter(({ path }) => !path.includes(SUFFIX))
    .flatMap((found) => judge(workspace, found));
}

const SUFFIX = '.quarantined';

function judge(workspace: string, found: Found): Quarantined[] {
  const { path } = found;
  const reason = found.rule?.reason ?? 'the host would obey it';
  const quarantine = (each: string): Quarantined[] => moveAside(workspace, each, reason);
  if (found.because === 'unreadable') return moveAside(workspace, path, 'nobody can look into it');
  const inGit = /(^|\/)\.git\//i.test(path);
  if (inGit && found.kind === 'folder' && basename(path).toLowerCase() === 'hooks') {
    return hooksIn(workspace, path).flatMap((name) => quarantine(`${path}/${name}`));
  }
  if (inGit && /^config/i.test(basename(path)) && found.kind === 'file') {
    return isHarmlessGitConfig(readInside(workspace, path)) ? [] : quarantine(path);
  }
  if (basename(path) === '.git') return pointsIntoOwnGit(workspace, path) ? [] : quarantine(path);
  return quarantine(path);
}

/** The samples that `git init` brings do nothing. */
function hooksIn(workspace: string, path: string): string[] {
  return inFolder(workspace, path, (folder) => readdirSync(folder)).filter(
    (name) => !name.endsWith('.sample') && !name.includes(SUFFIX),
  );
}

/** What `git init`, `git clone` and ordinary work write. Anything else may name a program to run. */
const HARMLESS = new RegExp(
  [
    'core\\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol)',
    'core\\.(abbrev|quotepath|compression|sharedrepository|worktree)',
    'remote\\..*\\.(fetch|tagopt|prune|mirror|url|pushurl)',
    'branch\\..*\\.(remote|merge|rebase|description)',
    'user\\.(name|email)|init\\.defaultbranch|pull\\.(rebase|ff)|push\\.(default|autosetupremote)|gc\\.auto',
    'extensions\\.(objectformat|refstorage|worktreeconfig)|submodule\\..*\\.(url|active)',
  ].join('|'),
);
/** `ext::` and the like run a command to reach the remote. */
const REMOTE_PROGRAM = /^[a-z0-9+.-]*::|^-/i;

export function isHarmlessGitConfig(text: string | null): boolean {
  if (text === null) return false;
  let section = '';
  // A backslash joins lines and quotes hide them: what is not plain is not judged harmless.
  if (text.includes('\\\n') || text.includes('\0')) return false;
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const header = /^\[([a-z0-9.-]+)(?:\s+"([^"\\]*)")?\]$/i.exec(line);
    if (header !== null) {
      section = [header[1]?.toLowerCase(), header[2]].filter((part) => part !== undefined).join('.');
      continue;
    }
    const entry = /^([a-z][a-z0-9-]*)\s*(?:=\s*(.*))?$/i.exec(line);
    if (entry === null) return false;
    const [, name = '', value = ''] = entry;
    const key = `${section}.${name.toLowerCase()}`;
    if (!new RegExp(`^(?:${HARMLESS.source})$`, 's').test(key)) return false;
    if (/url$/.test(key) && REMOTE_PROGRAM.test(value.replace(/^"/, ''))) return false;
  }
  return true;
}

/** Submodules and worktrees of this workspace's own repository keep their settings where they are looked after. */
function pointsIntoOwnGit(workspace: string, path: string): boolean {
  const target = /^gitdir:\s*(.+?)\s*$/m.exec(readInside(workspace, path) ?? '')?.[1];
  if (target === undefined) return false;
  const absolute = resolve(workspace, dirname(path), target);
  return absolute.startsWith(`${workspace}/.git/modules/`) || absolute.startsWith(`${workspace}/.git/worktrees/`);
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

function readInside(workspace: string, path: string): string | null {
  const text = inFolder(workspace, dirname(path), (folder) => {
    const file = openSync(
      `${folder}/${basename(path)}`,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      return [readFileSync(file, 'utf8')];
    } finally {
      closeSync(file);
    }
  });
  return text[0] ?? null;
}

/** Calls `use` with a path that stays this very folder whatever happens to its name. Empty when it cannot be reached. */
function inFolder(workspace: string, path: string, use: (folder: string) => string[]): string[] {
  const open: number[] = [];
  try {
    open.push(openSync(workspace, constants.O_RDONLY | constants.O_DIRECTORY));
    for (const name of path.split('/').filter((each) => each !== '.' && each !== '')) {
      const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
      open.push(openSync(`/proc/self/fd/${open.at(-1)}/${name}`, flags));
    }
    return use(`/proc/self/fd/${open.at(-1)}`);
  } catch {
    return [];
  } finally {
    for (const fd of open) closeSync(fd);
  }
}
