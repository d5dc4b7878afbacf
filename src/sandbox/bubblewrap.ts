import { setMaxListeners } from 'node:events';
import { closeSync, rmSync, writeFileSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { join } from 'node:path';
import type { Dialer } from '../kernel/dialer.ts';
import type { FilePolicy } from '../kernel/file-policy.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import {
  DEFAULT_LIMITS,
  type Limits,
  type RunEnd,
  type RunRequest,
  type RunResult,
  type Sandbox,
  type SandboxStatus,
} from '../kernel/sandbox.ts';
import { type Cgroup, type CgroupHost, findCgroupHost } from './cgroup.ts';
import { findChanges } from './changes.ts';
import { explainFailure, findBubblewrap, notInstalled, wrongPlatform } from './detect.ts';
import { endMessage } from './end-message.ts';
import { INSIDE_HOME, INSIDE_USER } from './etc.ts';
import { freshName, isExecutable } from './files.ts';
import { inheritedDescriptors } from './inherited.ts';
import { createLauncherPool, type Launcher, type LauncherPool, quoted } from './launcher.ts';
import { runArguments, systemArguments } from './mounts.ts';
import { type NamespaceTree, namespaceTree, readStatus } from './namespace-tree.ts';
import { DOOR_PROGRAM, openNetwork, PROXY_ENVIRONMENT, type SandboxNetwork } from './network.ts';
import { createPipePool, type PipePool } from './pipes.ts';
import { blockedNames, createPlaceholders } from './placeholders.ts';
import { createQueue } from './queue.ts';
import { type CheckedRequest, checkRequest, resolveProgram } from './request.ts';
import { createRuntimeFolder, type RuntimeFolder } from './runtime-folder.ts';
import { seccompFilter } from './seccomp.ts';
import { CLOSED, type Supervised, supervise } from './supervise.ts';
import { sweep } from './sweep.ts';
import { findToolchains, type Toolchains } from './toolchains.ts';
import { createTreeScan } from './tree-scan.ts';

/**
 * Linux. One run: check the request → wait for a place → find what to hide and protect → make its cgroup and mounts →
 * supervise the process → put aside what it planted → list what it changed → remove everything again.
 */

export interface BubblewrapOptions {
  readonly filePolicy: FilePolicy;
  /** Left out: a run that asks for network fails with NOT_CONFIGURED. */
  readonly dialer?: Dialer;
  /** Of the host: the search path tells which interpreters to mount, the home is what must stay hidden. */
  readonly path: string;
  readonly home: string;
  /** Where the sandbox keeps its few files: a folder that exists and is not in any workspace. */
  readonly stateFolder: string;
  /** Further folders of the host to show read-only. */
  readonly readOnlyFolders?: readonly string[];
  readonly maxRunning?: number;
  /** How many processes wait for the next run, so that it starts at once. */
  readonly warm?: number;
  readonly changesCapMs?: number;
  /** Instead of the usual places of the program. */
  readonly programPlaces?: readonly string[];
  /** `never` is for machines where control groups misbehave, and for testing what happens without. */
  readonly cgroups?: 'when-possible' | 'never';
}

/** What is set up once and used by every run. */
interface Prepared {
  readonly bwrap: string;
  readonly folder: RuntimeFolder;
  readonly pipes: PipePool;
  readonly launchers: LauncherPool;
  readonly toolchains: Toolchains;
  readonly systemArguments: readonly string[];
  readonly cgroups: CgroupHost | null;
  readonly status: SandboxStatus;
}

const DEFAULT_MAX_RUNNING = 32;
/** An argument may have 128 KB; a longer script goes through a file. */
const LONGEST_ARGUMENT = 100_000;

export function createBubblewrap(options: BubblewrapOptions): Sandbox {
  const uid = process.getuid?.() || 1000;
  const gid = process.getgid?.() || 1000;
  const queue = createQueue(options.maxRunning ?? DEFAULT_MAX_RUNNING);
  const scan = createTreeScan(options.filePolicy);
  const placeholders = createPlaceholders(blockedNames(options.filePolicy.rules));
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const running = new Set<Promise<unknown>>();
  let preparing: Promise<Result<Prepared>> | null = null;

  function prepare(): Promise<Result<Prepared>> {
    preparing ??= setUp();
    return preparing;
  }

  async function setUp(): Promise<Result<Prepared>> {
    if (process.platform !== 'linux') return wrongPlatform(process.platform);
    const bwrap = findBubblewrap(options.programPlaces);
    if (bwrap === null) return notInstalled();
    const folder = createRuntimeFolder(options.stateFolder, { uid, gid, seccomp: seccompFilter(process.arch) });
    const toolchains = findToolchains(options);
    const folders = [...toolchains.folders, ...(options.readOnlyFolders ?? [])];
    const cgroups = options.cgroups === 'never' ? null : findCgroupHost();
    const pipes = createPipePool(folder.path);
    const settings = {
      folder: folder.path,
      pipes,
      cgroups,
      seccomp: folder.seccomp,
      inherited: inheritedDescriptors(),
    };
    const prepared: Prepared = {
      bwrap,
      folder,
      toolchains,
      cgroups,
      pipes,
      launchers: createLauncherPool(settings, options.warm ?? 2),
      systemArguments: systemArguments({ folder, toolchains: folders, uid, gid }),
      status: { kind: 'bubblewrap', isolated: true, details: details(cgroups) },
    };
    const tried = await tryOut(prepared);
    if (tried.ok) return ok(prepared);
    await tidy(prepared);
    return tried;
  }

  /** A real run of nothing, so that what is missing is known before the first command. */
  async function tryOut(prepared: Prepared): Promise<Result<unknown>> {
    const workspace = prepared.folder.path;
    const request: RunRequest = { command: ['/bin/sh', '-c', ':'], workspace, mounts: 'read', tag: 'status' };
    const part = partialRun(prepared, request, { workspace, cwd: '/', limits: DEFAULT_LIMITS });
    const mounts = { folder: prepared.folder, workspace, limits: DEFAULT_LIMITS, found: [], placeholders: [] };
    part.mounts = runArguments({ ...mounts, mode: 'read' });
    const ran = await part.run();
    part.end();
    return ran.ok && ran.value.exitCode !== 0 ? explainFailure(textOf(ran.value.supervised)) : ran;
  }

  async function run(request: RunRequest): Promise<Result<RunResult>> {
    if (closing.signal.aborted) return closedFailure();
    const prepared = await prepare();
    if (!prepared.ok) return prepared;
    const privateFolders = [options.home, prepared.value.folder.path];
    const checked = checkRequest(request, privateFolders);
    if (!checked.ok) return checked;
    if (request.network !== undefined && options.dialer === undefined) {
      return fail('NOT_CONFIGURED', 'This sandbox has no way to the network: run it without, or configure a dialer.');
    }
    const leave = await queue.enter(request.signal);
    if (leave === null) return fail('CANCELLED', 'Cancelled before it ran: nothing happened.');
    try {
      return closing.signal.aborted ? closedFailure() : await runChecked(prepared.value, request, checked.value);
    } finally {
      leave();
    }
  }

  async function runChecked(prepared: Prepared, request: RunRequest, checked: CheckedRequest) {
    const { workspace, limits } = checked;
    const found = await scan.find(workspace);
    const namesBefore = scan.names(workspace);
    const held = request.mounts === 'live' ? placeholders.acquire(workspace) : null;
    const part = partialRun(prepared, request, checked);
    const startedAtMs = Date.now();
    try {
      part.mounts = runArguments({
        folder: prepared.folder,
        workspace,
        mode: request.mounts,
        limits,
        found: found.filter(({ path }) => held?.names.includes(path) !== true),
        placeholders: held?.names ?? [],
      });
      const ran = await part.run();
      if (!ran.ok) return ran;
      const { supervised, exitCode, endedBy, used, network } = ran.value;
      held?.release();
      const live = request.mounts === 'live';
      const after = live ? await scan.find(workspace) : found;
      const quarantined = live ? sweep(workspace, found, after) : [];
      const signal = signalOf(exitCode);
      return ok<RunResult>({
        exitCode: signal === null ? exitCode : null,
        signal,
        endedBy,
        endMessage: endedBy === null ? null : endMessage(endedBy, limits),
        durationMs: supervised.durationMs,
        cpuMs: used.cpuMs,
        peakMemoryBytes: used.peakMemoryBytes,
        output: supervised.output,
        network,
        changes:
          live && request.changes === 'report'
            ? await findChanges({
                workspace,
                before: namesBefore,
                after: scan.names(workspace),
                startedAtMs,
                capMs: options.changesCapMs ?? 500,
              })
            : null,
        quarantined,
        sandbox: 'bubblewrap',
        notes: [],
      });
    } finally {
      held?.release();
      part.end();
    }
  }

  interface Ran {
    supervised: Supervised;
    exitCode: number | null;
    endedBy: RunEnd | null;
    used: ReturnType<NamespaceTree['used']>;
    network: RunResult['network'];
  }

  /** The process itself, with the descriptors, files and groups that exist only as long as it does. */
  function partialRun(prepared: Prepared, request: RunRequest, checked: CheckedRequest) {
    const { folder } = prepared;
    const files: string[] = [];
    let launcher: Launcher | null = null;
    let network: SandboxNetwork | null = null;

    function scriptArguments(): { argv: readonly string[]; mount: readonly string[] } {
      if (!('script' in request.command)) {
        const [program = '', ...rest] = request.command;
        const { path } = prepared.toolchains;
        return { argv: [resolveProgram(program, path, isExecutable), ...rest], mount: [] };
      }
      const { script } = request.command;
      if (Buffer.byteLength(script) <= LONGEST_ARGUMENT)
        return { argv: ['/bin/bash', '-c', script, 'bash'], mount: [] };
      const file = join(folder.path, freshName('script'));
      writeFileSync(file, script, { mode: 0o600 });
      files.push(file);
      return { argv: ['/bin/bash', '/run/script'], mount: ['--ro-bind', file, '/run/script'] };
    }

    async function launch(): Promise<Result<Ran>> {
      const { limits } = checked;
      launcher = prepared.launchers.take(request.network === undefined ? 'plain' : 'with-channel');
      const { started, cgroup, fds, status } = launcher;
      cgroup?.limit(limits);
      if (request.network !== undefined && options.dialer !== undefined) {
        network = openNetwork(started.child, request, options.dialer);
      }
      const script = scriptArguments();
      const environment = insideEnvironment(request, prepared.toolchains.path, network !== null);
      const given = [
        ...prepared.systemArguments,
        ...script.mount,
        ...part.mounts,
        ...['--chdir', checked.cwd, '--clearenv'],
        ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
      ];
      const words = [
        ...[prepared.bwrap, '--args', String(fds.options), '--json-status-fd', String(fds.status)],
        ...(fds.seccomp === null ? [] : ['--seccomp', String(fds.seccomp)]),
        ...['--', '/bin/sh', '-c', innerScript(limits, cgroup, fds.channel), 'sh', ...script.argv],
      ];
      const tree = namespaceTree({ monitorPid: started.child.pid ?? 0, status, cgroup });
      const supervising = supervise(started, {
        limits,
        folder: folder.path,
        signals: request.signal === undefined ? [closing.signal] : [request.signal, closing.signal],
        onOutput: request.onOutput?.bind(request),
        tree: () => tree,
      });
      launcher.go({ script: runScript(limits, cgroup, words, stdinFile()), options: given.join('\0') });
      return outcome(await supervising, tree.used());
    }

    /** Without input, stdin is the null device: some programs search an empty file instead of the folder. */
    function stdinFile(): string {
      if (request.stdin === undefined) return '/dev/null';
      const file = join(folder.path, freshName('stdin'));
      writeFileSync(file, request.stdin, { mode: 0o600 });
      files.push(file);
      return file;
    }

    function outcome(supervised: Supervised, used: ReturnType<NamespaceTree['used']>): Result<Ran> {
      const exitCode = launcher === null ? null : readStatus(launcher.status).exitCode;
      if (supervised.startError !== null) return explainFailure(supervised.startError.message);
      if (exitCode === null && supervised.endedBy === null) return explainFailure(textOf(supervised));
      const endedBy = supervised.endedBy ?? (exitCode === 0 ? null : (used.passed ?? endOfSignal(exitCode)));
      return ok({ supervised, exitCode, endedBy, used, network: network?.uses() ?? [] });
    }

    const part = {
      mounts: [] as readonly string[],
      run(): Promise<Result<Ran>> {
        const promise = launch();
        running.add(promise);
        return promise.finally(() => running.delete(promise));
      },
      end(): void {
        for (const file of files.splice(0)) rmSync(file, { force: true });
        network?.close();
        if (launcher === null) return;
        closeSync(launcher.status);
        const removal = launcher.cgroup?.remove() ?? Promise.resolve(true);
        running.add(removal);
        void removal.finally(() => running.delete(removal));
        launcher = null;
        prepared.launchers.refill();
      },
    };
    return part;
  }

  return {
    kind: 'bubblewrap',
    async status() {
      const prepared = await prepare();
      return prepared.ok ? ok(prepared.value.status) : prepared;
    },
    run,
    async close() {
      closing.abort(CLOSED);
      const prepared = await preparing;
      while (running.size > 0) await Promise.allSettled([...running]);
      if (prepared?.ok) await tidy(prepared.value);
    },
  };
}

async function tidy(prepared: Prepared): Promise<void> {
  await prepared.launchers.close();
  prepared.pipes.close();
  prepared.folder.remove();
}

function closedFailure(): Result<never> {
  return fail('SANDBOX_UNAVAILABLE', 'The sandbox was closed: Toolwright is shutting down.');
}

function details(cgroups: CgroupHost | null): Record<string, string> {
  const watched = process.getuid?.() === 0 ? 'watchdog' : 'rlimit and watchdog';
  return {
    memory: cgroups === null ? watched : `cgroup v${cgroups.version}`,
    processes: cgroups === null ? watched : `cgroup v${cgroups.version}`,
    seccomp: seccompFilter(process.arch) === null ? `none for ${process.arch}` : 'filter',
    files: 'mounts',
    network: 'own namespace',
  };
}

/**
 * Lowers the limits of the process and becomes bubblewrap. These are per process, so they only back up the ones that
 * bind the tree. `-d` counts private writable memory: address space would be the wrong measure, since runtimes reserve
 * far more of it than they use.
 */
function runScript(limits: Limits, cgroup: Cgroup | null, words: readonly string[], stdin: string): string {
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
function innerScript(limits: Limits, cgroup: Cgroup | null, channel: number | null): string {
  const processes = Math.floor(limits.processes);
  const node = `env -i NODE_CHANNEL_FD=${channel} ${quoted(process.execPath)} -e ${quoted(DOOR_PROGRAM)}`;
  return [
    ...(channel === null ? [] : [`${node} </dev/null || exit 126`, `exec ${channel}>&-`]),
    'exec 3>&2 2>/dev/null',
    ...(cgroup === null ? [`ulimit -u ${processes} || ulimit -p ${processes}`] : []),
    '(exec "$@" 2>&3 3>&-)',
    'exit $?',
  ].join('\n');
}

function insideEnvironment(request: RunRequest, path: readonly string[], hasNetwork: boolean): Record<string, string> {
  const proxy = hasNetwork ? PROXY_ENVIRONMENT : {};
  return {
    PATH: path.join(':'),
    HOME: INSIDE_HOME,
    USER: INSIDE_USER,
    LOGNAME: INSIDE_USER,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TMPDIR: '/tmp',
    ...proxy,
    ...request.env,
    TOOLWRIGHT_SANDBOX: 'bubblewrap',
    TOOLWRIGHT_CALL: request.tag,
  };
}

/** The shell inside reports a signal as 128 and its number, as shells do. */
function signalOf(exitCode: number | null): NodeJS.Signals | null {
  if (exitCode === null) return 'SIGKILL';
  const found = Object.entries(osConstants.signals).find(([, number]) => number === exitCode - 128);
  return exitCode > 128 && found !== undefined ? (found[0] as NodeJS.Signals) : null;
}

function endOfSignal(exitCode: number | null): RunEnd | null {
  const signal = signalOf(exitCode);
  if (signal === 'SIGXFSZ') return 'write';
  return signal === 'SIGXCPU' ? 'cpu' : null;
}

function textOf({ output }: Supervised): string {
  const text = Buffer.from(output.stderr.head).toString('utf8');
  output.log.dispose();
  return text;
}
