import { messageOf } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { SandboxStatus } from '../../kernel/world/sandbox.ts';
import { type CgroupHost, findCgroupHost } from '../limits/cgroup.ts';
import { findBubblewrap, noFilter, notInstalled, wrongPlatform } from './detect.ts';
import { inheritedDescriptors } from '../inherited.ts';
import type { IsolationOptions } from '../isolation-options.ts';
import { createLauncherPool, entersNamespace, type LauncherPool } from './launcher.ts';
import { systemArguments } from './mounts.ts';
import { endOrphans } from '../owner.ts';
import { createPipePool, type PipePool } from '../run/pipes.ts';
import { createRuntimeFolder, type RuntimeFolder } from './runtime-folder.ts';
import { seccompFilter } from './seccomp.ts';
import { findToolchains, type Toolchains } from '../toolchains.ts';

export interface BubblewrapOptions extends IsolationOptions {
  /** How many processes wait for the next run, so that it starts at once. */
  readonly warm?: number;
  /** Instead of the usual places of the program. */
  readonly programPlaces?: readonly string[];
  /** Left out: this machine's. There has to be a filter of system calls for it. */
  readonly processor?: string;
  /** `never` is for machines where control groups misbehave, and for testing what happens without. */
  readonly cgroups?: 'when-possible' | 'never';
}

/** What is set up once and used by every run. */
export interface Prepared {
  readonly bwrap: string;
  readonly folder: RuntimeFolder;
  readonly pipes: PipePool;
  readonly launchers: LauncherPool;
  readonly toolchains: Toolchains;
  readonly readOnlyFolders: readonly string[];
  readonly systemArguments: readonly string[];
  readonly status: SandboxStatus;
}

const WARM = 2;

/** All of it is taken away again when `tryOut` fails. */
export async function setUp(
  options: BubblewrapOptions,
  tryOut: (prepared: Prepared) => Promise<Result<unknown>>,
): Promise<Result<Prepared>> {
  if (process.platform !== 'linux') return wrongPlatform(process.platform);
  const bwrap = findBubblewrap(options.programPlaces);
  if (bwrap === null) return notInstalled();
  const processor = options.processor ?? process.arch;
  const seccomp = seccompFilter(processor);
  if (seccomp === null) return noFilter(processor);
  // Root becomes an ordinary user inside; anybody else stays who they are.
  const user = { uid: process.getuid?.() || 1000, gid: process.getgid?.() || 1000 };
  endOrphans();
  const folder = await createRuntimeFolder(options.stateFolder, { ...user, seccomp });
  const isSecret = (name: string): boolean => options.filePolicy.judgeEntry('', name).access === 'hidden';
  const toolchains = findToolchains({ path: options.path, home: options.home, isSecret });
  const cgroups = options.cgroups === 'never' ? null : findCgroupHost();
  const pipes = createPipePool(folder.path);
  const inherited = inheritedDescriptors();
  const cgroupNamespace = cgroups !== null && entersNamespace() ? 'outside' : 'inside';
  const settings = { folder: folder.path, pipes, cgroups, seccomp: folder.seccomp, inherited };
  const prepared: Prepared = {
    bwrap,
    folder,
    pipes,
    toolchains,
    readOnlyFolders: [...toolchains.folders, ...(options.readOnlyFolders ?? [])],
    launchers: createLauncherPool(settings, options.warm ?? WARM),
    systemArguments: systemArguments({ folder, ...user, cgroupNamespace }),
    status: { kind: 'bubblewrap', isolated: true, details: details(cgroups, toolchains) },
  };
  const tried = await tryOut(prepared);
  if (tried.ok) return ok(prepared);
  await tidy(prepared);
  return tried;
}

export async function tidy(prepared: Prepared): Promise<void> {
  await prepared.launchers.close();
  prepared.pipes.close();
  prepared.folder.remove();
}

export function notSetUp(error: unknown): Result<never> {
  const repair = 'See that the state folder exists and has room, and that its user may write there.';
  return fail('SANDBOX_UNAVAILABLE', `The sandbox could not be set up: ${messageOf(error)}. ${repair}`, { repair });
}

function details(cgroups: CgroupHost | null, { leftOut }: Toolchains): Record<string, string> {
  const watched = process.getuid?.() === 0 ? 'watchdog' : 'rlimit and watchdog';
  return {
    memory: cgroups === null ? watched : `cgroup v${cgroups.version}`,
    processes: cgroups === null ? watched : `cgroup v${cgroups.version}`,
    seccomp: 'filter',
    files: 'mounts',
    network: 'own namespace',
    ...(leftOut.length > 0 && { path: `without ${leftOut.join(', ')}: too many programs in a folder not called bin` }),
  };
}
