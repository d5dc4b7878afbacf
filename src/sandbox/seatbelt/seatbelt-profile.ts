import { foldersAbove } from '../../kernel/text/folders-above.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { MountMode } from '../../kernel/world/sandbox.ts';
import { OWN_FILES } from '../../kernel/world/sensitive-files.ts';

/** The permissions of a run on macOS, for a `sandbox-exec` profile. Everything that is not allowed is denied. */
export interface ProfileRequest {
  readonly workspace: string;
  readonly mode: MountMode;
  /** The run's own temporary folder and home. */
  readonly privateFolder: string;
  readonly found: readonly ProtectedPath[];
  readonly toolchains: readonly string[];
  /** Files in those folders that a run must not read. */
  readonly denied: readonly string[];
  /** Port of the proxy on this machine; null without network. */
  readonly proxyPort: number | null;
}

const SYSTEM = [
  '/usr',
  '/bin',
  '/sbin',
  '/System',
  '/Library',
  '/opt/homebrew',
  '/private/etc/ssl',
  '/private/var/db/dyld',
];
const DEVICES = [
  '/dev/null',
  '/dev/zero',
  '/dev/random',
  '/dev/urandom',
  '/dev/fd',
  '/dev/stdin',
  '/dev/stdout',
  '/dev/stderr',
];
const ETC = ['hosts', 'passwd', 'group', 'services', 'protocols', 'localtime', 'shells', 'paths', 'zshrc', 'profile'];

/** Services that look up user and group names; programs without them fail in odd ways. */
const USER_NAMES = ['com.apple.system.opendirectoryd.libinfo', 'com.apple.system.opendirectoryd.membership'];

/** Writes the profile. The last matching rule counts, so denials stand below permissions. */
export function seatbeltProfile(request: ProfileRequest): string {
  const { workspace, mode, privateFolder } = request;
  const found = request.found.filter(({ access, viaSymlink }) => access === 'hidden' || viaSymlink !== true);
  const hidden = found.filter(({ access }) => access === 'hidden');
  const readOnly = found.filter(({ access }) => access === 'read-only');
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork)',
    '(allow signal (target same-sandbox))',
    '(allow process-info* (target same-sandbox))',
    '(allow sysctl-read)',
    `(allow mach-lookup ${USER_NAMES.map((name) => `(global-name "${name}")`).join(' ')})`,
    '(allow file-read-metadata)',
    '(allow file-ioctl (literal "/dev/null"))',
    `(allow file-read* ${subpaths([...SYSTEM, ...request.toolchains, workspace, privateFolder])})`,
    `(allow file-read* ${literals([...DEVICES, ...ETC.map((name) => `/private/etc/${name}`), '/'])})`,
    `(allow file-write* ${subpaths([privateFolder])} ${literals(DEVICES.slice(0, 2))})`,
    ...(mode === 'live' ? [`(allow file-write* ${subpaths([workspace])})`] : []),
    ...readOnly.map(({ path }) => `(deny file-write* ${subpaths([`${workspace}/${path}`])})`),
    // A folder above must not be renamed: denials go by path.
    ...[...new Set(found.flatMap(({ path }) => foldersAbove(path)))].map(
      (path) => `(deny file-write-unlink ${literals([`${workspace}/${path}`])})`,
    ),
    // Nobody may create these either.
    ...OWN_FILES.map(({ pattern }) => `(deny file-write* ${subpaths([workspace + pattern])})`),
    ...[...hidden.map(({ path }) => `${workspace}/${path}`), ...request.denied].map(
      (path) => `(deny file-read* file-write* ${subpaths([path])})`,
    ),
    request.proxyPort === null
      ? '(deny network*)'
      : `(allow network-outbound (remote tcp "localhost:${request.proxyPort}"))`,
    '',
  ].join('\n');
}

function subpaths(paths: readonly string[]): string {
  return paths.map((path) => `(subpath ${quoted(path)})`).join(' ');
}

function literals(paths: readonly string[]): string {
  return paths.map((path) => `(literal ${quoted(path)})`).join(' ');
}

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, (found) => `\\${found}`)}"`;
}
