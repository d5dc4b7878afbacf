import { lstatSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { realPath } from '../../host/files.ts';
import { isMounted, type ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { Limits, MountMode } from '../../kernel/world/sandbox.ts';
import { isWithin, SYSTEM_FOLDERS } from '../toolchains.ts';
import { INSIDE_HOME } from './etc-files.ts';
import type { RuntimeFolder } from './runtime-folder.ts';
import type { PlacedMount } from './verify-mounts.ts';

/** Options that are the same for every run: namespaces, the system, private folders. */
export function systemArguments(given: {
  folder: RuntimeFolder;
  uid: number;
  gid: number;
  /** `outside` when the process that becomes bubblewrap is in a new one already. */
  cgroupNamespace: 'inside' | 'outside';
}): string[] {
  const { folder } = given;
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net'],
    ...(given.cgroupNamespace === 'inside' ? ['--unshare-cgroup-try'] : []),
    ...['--uid', String(given.uid), '--gid', String(given.gid), '--hostname', 'sandbox'],
    ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent', '--as-pid-1'],
    ...SYSTEM_FOLDERS.flatMap(systemFolder),
    ...['--dir', '/run', '--dir', '/var', '--ro-bind', folder.etc, '/etc'],
    // bubblewrap protects only the folder /proc/sys; root owns the files in it.
    ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev'],
  ];
}

/** The arguments that depend on the run. The order matters: a later mount lies on top of an earlier one. */
export function runArguments(given: {
  folder: RuntimeFolder;
  /** Folders and files of the host to show read-only. Those in the workspace are left out: its own policy applies to them. */
  toolchains: readonly string[];
  /** Files in those folders to hide. */
  toolchainSecrets: readonly string[];
  workspace: string;
  /** Another path under which the workspace is known, so that commands which name it work. */
  alias: string | null;
  mode: MountMode;
  limits: Limits;
  inWorkspace: readonly PlacedMount[];
}): string[] {
  const { folder, workspace, mode, limits } = given;
  const isElsewhere = (path: string): boolean =>
    !isWithin(path, workspace) && !isWithin(realPath(path) ?? path, workspace);
  const toolchains = given.toolchains.filter(isElsewhere);
  const size = String(Math.max(4096, Math.floor(limits.tmpBytes)));
  return [
    ...['--size', size, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--size', size, '--perms', '1777', '--tmpfs', '/tmp', '--symlink', '/tmp', '/var/tmp'],
    ...['--size', size, '--tmpfs', INSIDE_HOME],
    ...toolchains.flatMap(bindReadOnly),
    ...given.toolchainSecrets.filter(isElsewhere).flatMap((path) => ['--ro-bind', folder.maskFile, path]),
    ...[mode === 'live' ? '--bind' : '--ro-bind', workspace, workspace],
    ...aliasLink(given.alias, workspace, toolchains),
    ...given.inWorkspace.flatMap(({ option, source, point }) => [option, source, point]),
    // The root is a tmpfs without a size: nothing may be written there.
    ...['--remount-ro', '/'],
  ];
}

/** The mounts on paths of the workspace. Their order matters too. */
export function workspaceMounts(given: {
  folder: RuntimeFolder;
  workspace: string;
  mode: MountMode;
  found: readonly ProtectedPath[];
  placeholders: readonly string[];
}): PlacedMount[] {
  const { folder, workspace, found } = given;
  return [
    ...(given.mode === 'live' ? protection(workspace, found) : []),
    ...given.placeholders.map((path) => onItself('--ro-bind', `${workspace}/${path}`)),
    ...masks(folder, workspace, found),
  ];
}

function onItself(option: PlacedMount['option'], path: string): PlacedMount {
  return { option, source: path, point: path };
}

function aliasLink(alias: string | null, workspace: string, toolchains: readonly string[]): string[] {
  const isTaken = toolchains.some((folder) => isWithin(alias ?? '/', folder));
  return alias === null || isTaken ? [] : ['--symlink', workspace, alias];
}

/** How many mounts `found` takes. */
export function countMounts(mode: MountMode, found: readonly ProtectedPath[]): number {
  const held = found.filter(isMounted);
  const above = mode === 'live' ? new Set(held.flatMap(({ path }) => foldersAbove(path))).size : 0;
  return held.length + above;
}

function systemFolder(path: string): string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return stat.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : bindReadOnly(path);
}

function bindReadOnly(path: string): string[] {
  return ['--ro-bind', path, path];
}

/**
 * Mounts read-only paths, and binds every folder above them and above hidden paths onto itself. A mount point cannot be
 * renamed: otherwise a run could rename `.git`, make a new one and so get around a read-only `.git/hooks`, or move a hidden
 * file to a path where the next run reads it.
 */
function protection(workspace: string, found: readonly ProtectedPath[]): PlacedMount[] {
  const mounted = found.filter((each) => each.kind !== 'symlink' && isMounted(each));
  const hidden = new Set(mounted.filter(({ access }) => access === 'hidden').map(({ path }) => path));
  const readOnly = new Set(mounted.filter(({ access }) => access === 'read-only').map(({ path }) => path));
  const isInside = (path: string): boolean => [path, ...foldersAbove(path)].some((each) => readOnly.has(each));
  const above = new Set(mounted.flatMap(({ path }) => foldersAbove(path)).filter((path) => !isInside(path)));
  const all = [
    ...[...above].map((path) => ({ path, option: '--bind' as const })),
    ...[...readOnly].filter((path) => !hidden.has(path)).map((path) => ({ path, option: '--ro-bind' as const })),
  ];
  all.sort((a, b) => depth(a.path) - depth(b.path));
  return all.map(({ path, option }) => onItself(option, `${workspace}/${path}`));
}

/** False for a symlink: its target is masked, which the scan lists as well. */
export function isMasked({ access, kind }: ProtectedPath): boolean {
  return access === 'hidden' && kind !== 'symlink';
}

/** Masks hidden paths, the deepest first: once a folder is masked, nothing in it can be a mount point. */
function masks(folder: RuntimeFolder, workspace: string, found: readonly ProtectedPath[]): PlacedMount[] {
  const masked = found.filter(isMasked).toSorted((a, b) => depth(b.path) - depth(a.path));
  return masked.map(({ path, kind }) => ({
    option: '--ro-bind',
    source: kind === 'directory' ? folder.maskFolder : folder.maskFile,
    point: `${workspace}/${path}`,
  }));
}

function foldersAbove(path: string): string[] {
  const above: string[] = [];
  for (let at = dirname(path); at !== '.'; at = dirname(at)) above.push(at);
  return above;
}

function depth(path: string): number {
  return path.split('/').length;
}
