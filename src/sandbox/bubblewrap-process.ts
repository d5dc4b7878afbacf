import { closeSync, rmSync, writeFileSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { join } from 'node:path';
import type { Dialer } from '../kernel/dialer.ts';
import { ok, type Result } from '../kernel/result.ts';
import type { Limits, RunEnd, RunRequest, RunResult } from '../kernel/sandbox.ts';
import type { Cgroup } from './cgroup.ts';
import { explainFailure } from './detect.ts';
import { INSIDE_HOME, INSIDE_USER } from './etc.ts';
import { freshName, isExecutable } from './files.ts';
import { type Launcher, type LauncherPool, quoted } from './launcher.ts';
import { type NamespaceTree, namespaceTree, readStatus } from './namespace-tree.ts';
import { DOOR_PROGRAM, openNetwork, PROXY_ENVIRONMENT, type SandboxNetwork } from './network.ts';
import { OWNER } from './owner.ts';
import { resolveProgram } from './request.ts';
import { type Supervised, supervise } from './supervise.ts';

/** One process in bubblewrap: what it is told, what it is given, and how it ended. */
export interface ProcessPlan {
  readonly bwrap: string;
  readonly launchers: LauncherPool;
  /** For files that exist as long as the process. */
  readonly folder: string;
  /** The search path inside. */
  readonly path: readonly string[];
  readonly request: RunRequest;
  readonly workspace: string;
  readonly cwd: string;
  readonly limits: Limits;
  /** Namespaces and the system, then the mounts of this run, of which the last makes the root read-only. */
  readonly system: readonly string[];
  readonly mounts: readonly string[];
  readonly signals: readonly AbortSignal[];
  readonly dialer: Dialer | undefined;
  /** Gets what is still being removed when the process has ended. */
  onRemoval(removal: Promise<unknown>): void;
}

export interface ProcessEnd {
  readonly supervised: Supervised;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly endedBy: RunEnd | null;
  readonly cpuMs: number | null;
  readonly peakMemoryBytes: number | null;
  readonly network: RunResult['network'];
}

/** An argument may have 128 KB; a longer script goes through a file. */
const LONGEST_ARGUMENT = 100_000;

export async function runProcess(plan: ProcessPlan): Promise<Result<ProcessEnd>> {
  const { request, limits } = plan;
  const files: string[] = [];
  const launcher = plan.launchers.take(request.network === undefined ? 'plain' : 'with-channel');
  const { started, cgroup, status } = launcher;
  const withNetwork = request.network !== undefined && plan.dialer !== undefined;
  const network = withNetwork ? openNetwork(started.child, request, plan.dialer) : null;
  try {
    cgroup?.limit(limits);
    const command = commandOf(plan, files);
    const tree = namespaceTree({
      monitorPid: started.child.pid ?? 0,
      status,
      cgroup,
      writable: request.mounts === 'live' ? plan.workspace : null,
    });
    const supervising = supervise(started, {
      limits,
      folder: plan.folder,
      signals: plan.signals,
      onOutput: request.onOutput?.bind(request),
      tree: () => tree,
    });
    const words = [
      ...[plan.bwrap, '--args', String(launcher.fds.options), '--json-status-fd', String(launcher.fds.status)],
      ...(launcher.fds.seccomp === null ? [] : ['--seccomp', String(launcher.fds.seccomp)]),
      ...['--', '/bin/sh', '-c', insideScript(limits, launcher), 'sh', ...command.argv],
    ];
    launcher.go({
      script: outsideScript(limits, cgroup, words, stdinFile(plan, files)),
      options: [...plan.system, ...command.mount, ...plan.mounts, ...environment(plan, network !== null)].join('\0'),
    });
    return outcome({ supervised: await supervising, used: tree.used(), status, network });
  } finally {
    network?.close();
    closeSync(status);
    for (const file of files) rmSync(file, { force: true });
    if (cgroup !== null) plan.onRemoval(removeSoon(cgroup));
    plan.launchers.refill();
  }
}

/** After whoever waits for the result has it. */
async function removeSoon(cgroup: Cgroup): Promise<boolean> {
  await new Promise((resolve) => setImmediate(resolve));
  return cgroup.remove();
}

function outcome(given: {
  supervised: Supervised;
  used: ReturnType<NamespaceTree['used']>;
  status: number;
  network: SandboxNetwork | null;
}): Result<ProcessEnd> {
  const { supervised, used, network } = given;
  const { exitCode } = readStatus(given.status);
  if (exitCode === null && supervised.endedBy === null) return explainFailure(whyNotStarted(supervised));
  const signal = signalOf(exitCode);
  const byItself = exitCode === 0 ? null : (used.passed ?? endOfSignal(signal));
  return ok({
    supervised,
    exitCode: signal === null ? exitCode : null,
    signal,
    endedBy: supervised.endedBy ?? byItself,
    cpuMs: used.cpuMs,
    peakMemoryBytes: used.peakMemoryBytes,
    network: network?.uses() ?? [],
  });
}

function whyNotStarted({ startError, output }: Supervised): string {
  const text = startError?.message ?? Buffer.from(output.stderr.head).toString('utf8');
  output.log.dispose();
  return text;
}

function commandOf(plan: ProcessPlan, files: string[]): { argv: readonly string[]; mount: readonly string[] } {
  const { command } = plan.request;
  if (!('script' in command)) {
    const [program = '', ...rest] = command;
    return { argv: [resolveProgram(program, plan.path, isExecutable), ...rest], mount: [] };
  }
  const isShort = Buffer.byteLength(command.script) <= LONGEST_ARGUMENT;
  if (isShort) return { argv: ['/bin/bash', '-c', command.script, 'bash'], mount: [] };
  const file = temporaryFile(plan, files, command.script);
  return { argv: ['/bin/bash', '/run/script'], mount: ['--ro-bind', file, '/run/script'] };
}

/** Without input, stdin is the null device: some programs search an empty file instead of the folder. */
function stdinFile(plan: ProcessPlan, files: string[]): string {
  return plan.request.stdin === undefined ? '/dev/null' : temporaryFile(plan, files, plan.request.stdin);
}

function temporaryFile(plan: ProcessPlan, files: string[], content: string | Uint8Array): string {
  const file = join(plan.folder, freshName('input'));
  writeFileSync(file, content, { mode: 0o600 });
  files.push(file);
  return file;
}

/**
 * Lowers the limits of the process and becomes bubblewrap. These are per process, so they only back up the ones that
 * bind the tree. `-d` counts private writable memory: address space would be the wrong measure, since runtimes reserve
 * far more of it than they use.
 */
function outsideScript(limits: Limits, cgroup: Cgroup | null, words: readonly string[], stdin: string): string {
  return [
    'ulimit -c 0',
    `ulimit -f ${Math.ceil(limits.fileBytes / 512)}`,
    `ulimit -n ${Math.floor(limits.openFiles)}`,
    `ulimit -t ${Math.ceil(limits.cpuMs / 1000) + 1}`,
    ...(cgroup === null ? [`ulimit -d ${Math.ceil(limits.memoryBytes / 1024)}`] : []),
    `exec ${words.map(quoted).join(' ')} <${quoted(stdin)} 3<&-`,
  ].join('\n');
}

/**
 * The first process inside: it waits for the command and for orphans, and when it ends so does all the rest. What it
 * says itself («Killed») is dropped. The limit of processes is set here, where the user namespace counts from zero;
 * shells disagree about its letter.
 */
function insideScript(limits: Limits, { cgroup, fds }: Launcher): string {
  const { channel } = fds;
  const processes = Math.floor(limits.processes);
  const door = `env -i NODE_CHANNEL_FD=${channel} ${quoted(process.execPath)} -e ${quoted(DOOR_PROGRAM)}`;
  return [
    ...(channel === null ? [] : [`${door} </dev/null || exit 126`, `exec ${channel}>&-`]),
    'exec 3>&2 2>/dev/null',
    ...(cgroup === null ? [`ulimit -u ${processes} || ulimit -p ${processes}`] : []),
    '(exec "$@" 2>&3 3>&-)',
    'exit $?',
  ].join('\n');
}

function environment({ request, path, cwd }: ProcessPlan, hasNetwork: boolean): string[] {
  const variables: Record<string, string> = {
    PATH: path.join(':'),
    HOME: INSIDE_HOME,
    USER: INSIDE_USER,
    LOGNAME: INSIDE_USER,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TMPDIR: '/tmp',
    ...(hasNetwork ? PROXY_ENVIRONMENT : {}),
    ...request.env,
    TOOLWRIGHT_SANDBOX: 'bubblewrap',
    TOOLWRIGHT_CALL: request.tag,
    ...OWNER,
  };
  const set = Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]);
  return ['--chdir', cwd, '--clearenv', ...set];
}

/** The shell inside reports a signal as 128 and its number, as shells do. Null without an exit code: we killed it. */
function signalOf(exitCode: number | null): string | null {
  if (exitCode === null) return 'SIGKILL';
  const found = Object.entries(osConstants.signals).find(([, number]) => number === exitCode - 128);
  return exitCode > 128 && found !== undefined ? found[0] : null;
}

function endOfSignal(signal: string | null): RunEnd | null {
  if (signal === 'SIGXFSZ') return 'write';
  return signal === 'SIGXCPU' ? 'cpu' : null;
}
