import { readdirSync, readFileSync } from 'node:fs';
import { messageOf } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { SandboxStatus } from '../../kernel/world/sandbox.ts';
import type { IsolationOptions } from '../isolation-options.ts';
import { type CgroupHost, findCgroupHost } from '../limits/cgroup.ts';
import { endOrphans } from '../orphans.ts';
import { createPipePool, type PipePool } from '../run/pipes.ts';
import { findToolchains, type Toolchains } from '../toolchains.ts';
import type { ChosenStages } from './choose-stages.ts';
import { findBubblewrap, noFilter, notInstalled, wrongPlatform } from './detect.ts';
import { createLauncherPool, entersNamespace, type LauncherPool } from './launcher.ts';
import { systemArguments } from './mounts.ts';
import { createRuntimeFolder, type RuntimeFolder } from './runtime-folder.ts';
import { seccompFilter } from './seccomp.ts';

export interface BubblewrapOptions extends IsolationOptions {
  /** How many launchers wait for the next run, so that it starts at once. */
  readonly warm?: number;
  /** Replaces the usual paths of the program. */
  readonly programPlaces?: readonly string[];
  /** Left out: this machine's processor. There must be a seccomp filter for it. */
  readonly processor?: string;
  /** `never` is for machines where control groups misbehave, and for tests. */
  readonly cgroups?: 'when-possible' | 'never';
  /** Left out: overlays where they can be mounted, else copies. */
  readonly stages?: 'overlay' | 'copy';
}

/** Everything that is set up once and used by every run. */
export interface PreparedSandbox {
  readonly bwrap: string;
  readonly folder: RuntimeFolder;
  readonly pipes: PipePool;
  readonly launchers: LauncherPool;
  readonly toolchains: Toolchains;
  readonly readOnlyFolders: readonly string[];
  readonly systemArguments: readonly string[];
  readonly stages: ChosenStages;
  readonly status: SandboxStatus;
}

/** A sandbox before it was tried. */
export type UntriedSandbox = Omit<PreparedSandbox, 'stages' | 'status'>;

const WARM = 2;

/** All of it is taken away again when `tryOut` fails. */
export async function setUp(
  options: BubblewrapOptions,
  tryOut: (untried: UntriedSandbox) => Promise<Result<ChosenStages>>,
): Promise<Result<PreparedSandbox>> {
  if (process.platform !== 'linux') return wrongPlatform(process.platform);
  const bwrap = findBubblewrap(options.programPlaces);
  if (bwrap === null) return notInstalled();
  const processor = options.processor ?? process.arch;
  const seccomp = seccompFilter(processor);
  if (seccomp === null) return noFilter(processor);
  // Root becomes an ordinary user inside; any other user stays the same.
  const user = { uid: process.getuid?.() || 1000, gid: process.getgid?.() || 1000 };
  endOrphans();
  const folder = await createRuntimeFolder(options.stateDir, { ...user, seccomp });
  const isSecret = (name: string): boolean => {
    const { access, rule } = options.filePolicy.judgeEntry('', name);
    // Among programs a name such as `env` is one of them.
    return access === 'hidden' && !(rule?.only === 'files' && rule.unless === 'public content');
  };
  const toolchains = findToolchains({ path: options.path, home: options.home, isSecret });
  const cgroups = options.cgroups === 'never' ? null : findCgroupHost();
  const pipes = createPipePool(folder.path);
  const inherited = inheritedDescriptors();
  const cgroupNamespace = cgroups !== null && entersNamespace() ? 'outside' : 'inside';
  const settings = { folder: folder.path, pipes, cgroups, seccomp: folder.seccomp, inherited };
  const untried: UntriedSandbox = {
    bwrap,
    folder,
    pipes,
    toolchains,
    readOnlyFolders: [...toolchains.folders, ...(options.readOnlyFolders ?? [])],
    launchers: createLauncherPool(settings, options.warm ?? WARM),
    systemArguments: systemArguments({ folder, ...user, cgroupNamespace }),
  };
  const tried = await tryOut(untried);
  if (!tried.ok) {
    await tidy(untried);
    return tried;
  }
  const { kind, folder: stagesFolder, program } = tried.value;
  const status: SandboxStatus = {
    ...{ kind: 'bubblewrap', isolated: true },
    details: { ...details(cgroups, toolchains), stages: program === null ? 'copies' : `overlays by ${program}` },
    stages: { kind, folder: stagesFolder },
  };
  return ok({ ...untried, stages: tried.value, status });
}

export async function tidy(prepared: UntriedSandbox): Promise<void> {
  await prepared.launchers.close();
  prepared.pipes.close();
  prepared.folder.remove();
}

export function setupError(error: unknown): Result<never> {
  const repair = 'Check that the state folder exists and has room, and that its user may write there.';
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

const CLOSE_ON_EXEC = 0o2000000;

/**
 * File descriptors that the parent of this process left open and that its children would inherit. Node marks its own to be
 * closed; it does not know of these.
 */
function inheritedDescriptors(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > 2 && !isClosedOnExec(fd));
}

function isClosedOnExec(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1] ?? '';
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch {
    return true;
  }
}
