import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import { type FileRule, liesUnwalked } from '../kernel/file-policy.ts';
import { gitdirIn, hooksOfUser, inHome, namedPaths } from '../git/settings.ts';
import { realPath } from './files.ts';
import type { Found } from './found.ts';
import { inFolder, readInside, readTextInside, statOf } from './inside.ts';
import { isPutAside } from './protected-paths/quarantine.ts';
import { createSlices } from './slices.ts';

/**
 * Where git on the host finds programs to run. Not only below a folder called `.git`: any folder of the right shape is
 * a repository to git, a `.git` may be a file or a link, and a configuration can name further places.
 */

const IN_GIT: FileRule = {
  pattern: 'config, hooks and commondir of any repository',
  access: 'read-only',
  reason: 'git on the host runs what stands here',
  missing: 'sweep',
};
const GIT_FILE: FileRule = { ...IN_GIT, pattern: '.git', reason: 'it says where git finds its hooks' };
const NAMED: FileRule = { ...IN_GIT, pattern: 'core.hooksPath and include.path' };

const IN_ANY_REPOSITORY = new Set(['config', 'config.worktree', 'commondir', 'hooks']);

/** The rule for an entry of a folder with these names, when git gives it a meaning that its name alone does not tell. */
export function gitRule(name: string, kind: Found['kind'], isRepository: boolean): FileRule | null {
  if (kind !== 'folder' && name.length === 4 && name.toLowerCase() === '.git') return GIT_FILE;
  return isRepository && IN_ANY_REPOSITORY.has(name.toLowerCase()) ? IN_GIT : null;
}

/** What git itself asks of a folder before it takes it for a repository. */
export function isRepository(names: readonly string[]): boolean {
  const has = (name: string): boolean =>
    names.some((each) => each.length === name.length && each.toLowerCase() === name);
  return has('head') && (has('commondir') || (has('objects') && has('refs')));
}

/** Whether it is git that would obey an entry, and not an editor or another program. */
export function isForGit(path: string, rule: FileRule | null): boolean {
  return rule === GIT_FILE || isOfGit(path, rule);
}

/** No project names as many, and each is looked for: a run may plant a configuration that names any number. */
const MOST_NAMED = 100;

/**
 * Folders and files in the workspace that the configurations found there send git to. A configuration that names too
 * many is among them as one that was not looked into.
 */
export async function namedByConfig(workspace: string, found: readonly Found[], home: string): Promise<Found[]> {
  const known = new Set(found.map(({ path }) => path));
  const configs = found.filter(isGitConfig);
  const everywhere = configs.length === 0 ? [] : hooksOfUser(home, readText);
  const at = (folder: string, path: string): string => resolve(folder, inHome(path, home));
  const slices = createSlices();
  const result: Found[] = [];
  for (const config of configs) {
    const text = readTextInside(workspace, config.path) ?? '';
    const { hooks, includes, worktree } = namedPaths(text);
    if (hooks.length + includes.length > MOST_NAMED) result.push({ ...config, because: 'failed' });
    const folder = resolve(workspace, dirname(config.path));
    // Hooks are named from the top of the working tree, which a bare repository is itself.
    const tops = [folder, dirname(folder), ...(worktree === null ? [] : [resolve(folder, worktree)])];
    const ofHooks = [...hooks.slice(0, MOST_NAMED), ...everywhere];
    const paths = [
      ...includes.slice(0, MOST_NAMED).map((path) => at(folder, path)),
      ...tops.flatMap((top) => ofHooks.map((path) => at(top, path))),
    ];
    for (const path of paths) {
      result.push(...entryAt(workspace, relative(workspace, path)).filter((entry) => !known.has(entry.path)));
      if (slices.isOver()) await slices.next();
    }
    if (slices.isOver()) await slices.next();
  }
  return result;
}

function readText(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}

function entryAt(workspace: string, path: string): Found[] {
  if (path === '' || path === '..' || path.startsWith('../')) return [];
  const stat = statOf(`${workspace}/${path}`);
  if (stat === undefined) return [];
  const kind = stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'other';
  return [{ path, kind, access: 'read-only', rule: NAMED }];
}

/**
 * What a protected file or folder says, for telling whether it was changed: the same text as `before` when it was not.
 * Undefined where only its identity counts.
 */
export function stateOf(workspace: string, found: Found, before?: string): string | undefined {
  const { path } = found;
  if (isGitConfig(found)) return readTextInside(workspace, path) ?? undefined;
  if (isGitHooks(found)) return JSON.stringify([...hookStates(workspace, path, hooksOf(before))]);
  if (found.kind === 'link') return linkAt(`${workspace}/${path}`);
  if (found.kind !== 'file') return undefined;
  if (found.rule !== GIT_FILE) return digest(workspace, path);
  const text = readTextInside(workspace, path) ?? '';
  return `${text} ${realPath(resolve(workspace, dirname(path), gitdirIn(text) ?? '.'))}`;
}

/** A file that means nothing to git. */
export function isPlain(found: Found): boolean {
  return found.kind === 'file' && found.rule !== GIT_FILE && !isGitConfig(found);
}

export function isGitConfig({ path, kind, rule }: Found): boolean {
  return kind === 'file' && (rule === NAMED || (isOfGit(path, rule) && /^config/i.test(basename(path))));
}

export function isGitHooks({ path, kind, rule }: Found): boolean {
  return kind === 'folder' && (rule === NAMED || (isOfGit(path, rule) && basename(path).toLowerCase() === 'hooks'));
}

/** Hooks that were not there before, and those that were others; `before` is the state that the folder had. */
export function newHooks(
  workspace: string,
  path: string,
  before: string | undefined,
): { added: string[]; changed: string[] } {
  const known = hooksOf(before);
  if (known === null) return { added: hookNames(workspace, path), changed: [] };
  const states = [...hookStates(workspace, path, known)];
  const names = states.filter(([name, state]) => known.get(name) !== state).map(([name]) => name);
  return { added: names.filter((name) => !known.has(name)), changed: names.filter((name) => known.has(name)) };
}

/** The samples that `git init` brings do nothing, nor does what was put aside. */
function hookNames(workspace: string, path: string): string[] {
  const names = inFolder(workspace, path, (folder) => readdirSync(folder));
  return names.filter((name) => !name.endsWith('.sample') && !isPutAside(name));
}

/** More than that are not read: a run can leave any number, and each of any size. */
const MOST_READ = { hooks: 100, bytes: 64 * 1024 };

type Hooks = ReadonlyMap<string, string>;

function hooksOf(state: string | undefined): Hooks | null {
  return state === undefined ? null : new Map(JSON.parse(state) as [string, string][]);
}

/** In the form that those before have, however many there are by now; what was not among them is not read. */
function hookStates(workspace: string, path: string, before: Hooks | null): Hooks {
  const names = hookNames(workspace, path);
  const bytes = (before?.size ?? names.length) > MOST_READ.hooks ? 0 : MOST_READ.bytes;
  const stateOfHook = (name: string): string =>
    before?.has(name) === false ? 'new' : digest(workspace, `${path}/${name}`, bytes);
  return new Map(names.map((name) => [name, stateOfHook(name)]));
}

/** Submodules and worktrees of this workspace's own repository keep their settings where they are looked after. */
export function isOwnGitFile(workspace: string, { path, kind, rule }: Found): boolean {
  if (kind !== 'file') return false;
  const text = readTextInside(workspace, path) ?? '';
  // What `git worktree add` writes: the settings are those of the repository it lies in.
  if (/(^|\/)\.git\/worktrees\/[^/]+\/commondir$/i.test(path)) return text.trimEnd() === '../..';
  const target = rule === GIT_FILE ? gitdirIn(text) : null;
  if (target === null) return false;
  const absolute = resolve(workspace, dirname(path), target);
  const isOwn = ['modules', 'worktrees'].some((name) => absolute.startsWith(`${workspace}/.git/${name}/`));
  return isOwn && realPath(absolute) === absolute;
}

/**
 * Whether a configuration may name this folder for its files: one that the repository lies in, or one whose `.git` leads
 * back to it, as that of a submodule does. Both lie above something protected, so that no later run puts a link there.
 */
export function isOwnWorktree(workspace: string, config: Found, named: string): boolean {
  const gitdir = resolve(workspace, dirname(config.path));
  const top = resolve(gitdir, named);
  // What an included file names starts elsewhere.
  if (config.rule === NAMED || !`${top}/`.startsWith(`${workspace}/`) || realPath(top) !== top) return false;
  if (`${gitdir}/`.startsWith(`${top}/`)) return true;
  if (liesUnwalked(relative(workspace, top))) return false;
  const back = gitdirIn(readTextInside(workspace, relative(workspace, `${top}/.git`)) ?? '');
  return back !== null && resolve(top, back) === gitdir;
}

function isOfGit(path: string, rule: FileRule | null): boolean {
  return rule === IN_GIT || /(^|\/)\.git\//i.test(path);
}

/** Of a larger file, what changes whenever it is written. */
function digest(workspace: string, path: string, mostBytes = Number.POSITIVE_INFINITY): string {
  const stat = statOf(`${workspace}/${path}`);
  if (stat?.isSymbolicLink()) return linkAt(`${workspace}/${path}`) ?? '';
  if (!stat?.isFile()) return String(stat?.ino);
  const content = stat.size > mostBytes ? null : readInside(workspace, path);
  if (content === null) return `${stat.mode} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
  return `${stat.mode} ${createHash('sha256').update(content).digest('hex')}`;
}

function linkAt(path: string): string | undefined {
  try {
    return `${readlinkSync(path)} ${realPath(path)}`;
  } catch {
    return undefined;
  }
}
