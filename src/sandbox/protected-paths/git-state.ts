import { hash } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import { CONFIGURED_RULE, GIT_FILE_RULE, liesInRepository } from '../../git/obeyed-paths.ts';
import { parseGitdir } from '../../git/settings.ts';
import { realPath, statOf } from '../../host/files.ts';
import { inFolder, readInside, readTextInside } from '../../host/read-inside.ts';
import { liesUnwalked } from '../../kernel/world/file-policy.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import { isPutAside } from './quarantine.ts';

/**
 * Returns the state of a protected path, to compare before and after a run: the same text as `before` when nothing
 * changed. Undefined where only the identity of the file counts.
 */
export function stateOf(workspace: string, found: ProtectedPath, before?: string): string | undefined {
  const { path } = found;
  if (isGitConfig(found)) return readTextInside(workspace, path) ?? undefined;
  if (isGitHooks(found)) return JSON.stringify([...hookStates(workspace, path, hooksOf(before))]);
  if (found.kind === 'symlink') return linkAt(`${workspace}/${path}`);
  if (found.kind !== 'file') return undefined;
  if (found.rule !== GIT_FILE_RULE) return digest(workspace, path);
  const text = readTextInside(workspace, path) ?? '';
  return `${text} ${realPath(resolve(workspace, dirname(path), parseGitdir(text) ?? '.'))}`;
}

/** A file that means nothing to git. */
export function isPlain(found: ProtectedPath): boolean {
  return found.kind === 'file' && found.rule !== GIT_FILE_RULE && !isGitConfig(found);
}

export function isGitConfig({ path, kind, rule }: ProtectedPath): boolean {
  return (
    kind === 'file' && (rule === CONFIGURED_RULE || (liesInRepository(path, rule) && /^config/i.test(basename(path))))
  );
}

export function isGitHooks({ path, kind, rule }: ProtectedPath): boolean {
  return (
    kind === 'directory' &&
    (rule === CONFIGURED_RULE || (liesInRepository(path, rule) && basename(path).toLowerCase() === 'hooks'))
  );
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
const MAX_READ = { hooks: 100, bytes: 64 * 1024 };

type Hooks = ReadonlyMap<string, string>;

function hooksOf(state: string | undefined): Hooks | null {
  return state === undefined ? null : new Map(JSON.parse(state) as [string, string][]);
}

/** In the form that those before have, however many there are by now; what was not among them is not read. */
function hookStates(workspace: string, path: string, before: Hooks | null): Hooks {
  const names = hookNames(workspace, path);
  const bytes = (before?.size ?? names.length) > MAX_READ.hooks ? 0 : MAX_READ.bytes;
  const stateOfHook = (name: string): string =>
    before?.has(name) === false ? 'new' : digest(workspace, `${path}/${name}`, bytes);
  return new Map(names.map((name) => [name, stateOfHook(name)]));
}

/** Submodules and worktrees of this workspace's own repository keep their settings where they are looked after. */
export function isOwnGitFile(workspace: string, { path, kind, rule }: ProtectedPath): boolean {
  if (kind !== 'file') return false;
  const text = readTextInside(workspace, path) ?? '';
  // `git worktree add` writes this: the settings are those of the repository that it lies in.
  if (/(^|\/)\.git\/worktrees\/[^/]+\/commondir$/i.test(path)) return text.trimEnd() === '../..';
  const target = rule === GIT_FILE_RULE ? parseGitdir(text) : null;
  if (target === null) return false;
  const absolute = resolve(workspace, dirname(path), target);
  const isOwn = ['modules', 'worktrees'].some((name) => absolute.startsWith(`${workspace}/.git/${name}/`));
  return isOwn && realPath(absolute) === absolute;
}

/**
 * Whether a configuration may name this folder for its files: one that the repository lies in, or one whose `.git` leads
 * back to it, as that of a submodule does. Both lie above something protected, so that no later run puts a link there.
 */
export function isOwnWorktree(workspace: string, config: ProtectedPath, named: string): boolean {
  const gitdir = resolve(workspace, dirname(config.path));
  const top = resolve(gitdir, named);
  // Paths in an included file start elsewhere.
  if (config.rule === CONFIGURED_RULE || !`${top}/`.startsWith(`${workspace}/`) || realPath(top) !== top) return false;
  if (`${gitdir}/`.startsWith(`${top}/`)) return true;
  if (liesUnwalked(relative(workspace, top))) return false;
  const back = parseGitdir(readTextInside(workspace, relative(workspace, `${top}/.git`)) ?? '');
  return back !== null && resolve(top, back) === gitdir;
}

/** A digest of the content; of a larger file, numbers that change whenever it is written. */
function digest(workspace: string, path: string, mostBytes = Number.POSITIVE_INFINITY): string {
  const stat = statOf(`${workspace}/${path}`);
  if (stat?.isSymbolicLink()) return linkAt(`${workspace}/${path}`) ?? '';
  if (!stat?.isFile()) return String(stat?.ino);
  const content = stat.size > mostBytes ? null : readInside(workspace, path);
  if (content === null) return `${stat.mode} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
  return `${stat.mode} ${hash('sha256', content, 'hex')}`;
}

function linkAt(path: string): string | undefined {
  try {
    return `${readlinkSync(path)} ${realPath(path)}`;
  } catch {
    return undefined;
  }
}
