import { lstatSync, readlinkSync } from 'node:fs';
import { realPath } from '../../host/files.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { Limits } from '../../kernel/world/sandbox.ts';
import { isWithin, SYSTEM_FOLDERS } from '../toolchains.ts';
import { INSIDE_HOME } from './etc-files.ts';
import type { RuntimeFolder } from './runtime-folder.ts';

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
  readOnlyFolders: readonly string[];
  /** Files in those folders to hide. */
  toolchainSecrets: readonly string[];
  workspace: string;
  /** Another path under which the workspace is known, so that commands which name it work. */
  alias: string | null;
  limits: Limits;
  /** The mount of the workspace, and those on it. */
  inWorkspace: readonly string[];
}): string[] {
  const { folder, workspace, limits } = given;
  const isElsewhere = (path: string): boolean =>
    !isWithin(path, workspace) && !isWithin(realPath(path) ?? path, workspace);
  const readOnly = given.readOnlyFolders.filter(isElsewhere);
  const size = String(Math.max(4096, Math.floor(limits.tmpBytes)));
  return [
    ...['--size', size, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--size', size, '--perms', '1777', '--tmpfs', '/tmp', '--symlink', '../tmp', '/var/tmp'],
    ...['--size', size, '--tmpfs', INSIDE_HOME],
    ...readOnly.flatMap(bindReadOnly),
    ...given.toolchainSecrets.filter(isElsewhere).flatMap((path) => ['--ro-bind', folder.maskFile, path]),
    ...given.inWorkspace,
    ...aliasLink(given.alias, workspace, readOnly),
    // The root is a tmpfs without a size: nothing may be written there.
    ...['--remount-ro', '/'],
  ];
}

function aliasLink(alias: string | null, workspace: string, readOnly: readonly string[]): string[] {
  const isTaken = readOnly.some((folder) => isWithin(alias ?? '/', folder));
  return alias === null || isTaken ? [] : ['--symlink', workspace, alias];
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
 * Masks hidden paths by mounts, the deepest first: once a folder is masked, nothing in it can be a mount point. For a
 * workspace over which no overlay can lie.
 */
export function maskMounts(folder: RuntimeFolder, workspace: string, hidden: readonly ProtectedPath[]): string[] {
  const masked = hidden.toSorted((a, b) => depth(b.path) - depth(a.path));
  return masked.flatMap(({ path, kind }) => [
    ...['--ro-bind', kind === 'directory' ? folder.maskFolder : folder.maskFile],
    `${workspace}/${path}`,
  ]);
}

function depth(path: string): number {
  return path.split('/').length;
}
