import { closeSync, rmSync, writeFileSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { join } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { isExecutable, uniqueName } from '../../host/files.ts';
import { messageOf } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Dialer } from '../../kernel/world/dialer.ts';
import { LIVE_INPUT, type Limits, type RunEnd, type RunRequest, type RunResult } from '../../kernel/world/sandbox.ts';
import type { Cgroup } from '../limits/cgroup.ts';
import { createDiskGrowth, type FolderSize, sizeOfFolder } from '../limits/disk-growth.ts';
import { openNetwork, type SandboxNetwork } from '../network/network.ts';
import { resolveProgram } from '../request.ts';
import { createLiveInput, type LiveInput } from '../run/input-pipe.ts';
import type { PipePool } from '../run/pipes.ts';
import { scriptWords } from '../run/script-words.ts';
import { type SupervisedRun, supervise } from '../run/supervise.ts';
import { type OverlayMounts, type OverlayProgram, REFUSED, underOverlays } from '../stage/overlay.ts';
import { explainFailure } from './detect.ts';
import { DONE, environment, insideScript, outsideScript, withVariables } from './launch-scripts.ts';
import type { Launcher, LauncherPool } from './launcher.ts';
import { type NamespaceTree, namespaceTree, readNow, readStatus } from './namespace-tree.ts';
import { waitForMounts } from './wait-for-mounts.ts';

/** The plan of one process in bubblewrap. */
export interface ProcessPlan {
  readonly bwrap: string;
  readonly launchers: LauncherPool;
  readonly pipes: PipePool;
  /** For files that exist as long as the process. */
  readonly folder: string;
  /** The search path inside. */
  readonly path: readonly string[];
  /** Of the toolchains; those of the request win. */
  readonly variables: Readonly<Record<string, string>>;
  readonly request: RunRequest;
  readonly workspace: string;
  readonly cwd: string;
  readonly limits: Limits;
  /** Namespaces and the system, then the mounts of this run, of which the last makes the root read-only. */
  readonly system: readonly string[];
  readonly mounts: readonly string[];
  /** The folder that is mounted as /etc, and nowhere else. */
  readonly etc: string;
  readonly view: WorkspaceView;
  readonly signals: readonly AbortSignal[];
  readonly dialer: Dialer | undefined;
  /** Receives removals that still go on when the process has ended. */
  onRemoval(removal: Promise<unknown>): void;
}

/** How the workspace comes into the sandbox, and where writes go. */
export interface WorkspaceView {
  readonly overlay: { readonly program: OverlayProgram; readonly mounts: OverlayMounts } | null;
  /** Where writes go, and what it held at first; null when nothing can be written. */
  readonly writable: { readonly folder: string; readonly before: FolderSize } | null;
  /** Called when all is mounted and before the command begins. Throws what the system throws. */
  onMounted(firstPid: number): void;
}

export interface ProcessEnd {
  readonly supervised: SupervisedRun;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly endedBy: RunEnd | null;
  readonly cpuMs: number | null;
  readonly peakMemoryBytes: number | null;
  readonly network: RunResult['network'];
  /** Connections beyond those in the list. */
  readonly networkDropped: number;
}

export async function runProcess(plan: ProcessPlan): Promise<Result<ProcessEnd>> {
  const files: string[] = [];
  let launcher: Launcher | null = null;
  let input: LiveInput | null = null;
  let network: SandboxNetwork | null = null;
  try {
    launcher = plan.launchers.take(plan.request.network === undefined ? 'plain' : 'with-channel');
    input = plan.request.stdin === LIVE_INPUT ? createLiveInput(plan.pipes) : null;
    load({ launcher, plan, files, input });
    network = await openWay(launcher, plan);
  } catch (error) {
    if (launcher !== null) plan.onRemoval(launcher.discard());
    input?.end();
    removeAll(files);
    return fail('SANDBOX_UNAVAILABLE', `The run could not be set up: ${messageOf(error)}. ${REPAIR}`);
  }
  const { started, cgroup, status, report } = launcher;
  try {
    const { writable } = plan.view;
    const disk = writable === null ? null : createDiskGrowth(writable.folder, writable.before);
    const tree = namespaceTree({ monitor: started.child, status, cgroup, disk });
    const supervising = supervise(started, {
      limits: plan.limits,
      folder: plan.folder,
      signals: plan.signals,
      onOutput: plan.request.onOutput?.bind(plan.request),
      filter: plan.request.filterOutput?.(),
      onStart: (log) => plan.request.onStart?.({ log, input }),
      tree: () => tree,
    });
    network?.onBroken(() => tree.kill());
    launcher.go();
    const failed = await whyNotMounted(launcher, plan);
    // Nothing of it has begun, so that nothing has to tidy up.
    const isCancelled = plan.signals.some(({ aborted }) => aborted);
    if (failed === null && !isCancelled) {
      tree.giveWay();
      launcher.begin();
    } else tree.kill();
    const supervised = await supervising;
    if (failed !== null) return withoutResult(supervised, failed);
    if (network?.isBroken()) return withoutResult(supervised, BROKEN_WAY);
    const ended = { exitCode: readStatus(status).exitCode, report: readNow(report) };
    return await outcome({ plan, supervised, used: tree.used(), ended, network });
  } finally {
    network?.close();
    input?.end();
    closeSync(status);
    closeSync(report);
    removeAll(files);
    if (cgroup !== null) plan.onRemoval(removeSoon(cgroup));
    plan.launchers.refill();
  }
}

/** Null when all is mounted, and for a bubblewrap that ended by itself. */
async function whyNotMounted({ started, status }: Launcher, plan: ProcessPlan): Promise<string | null> {
  const mounted = await waitForMounts(started.child, status, plan.etc);
  if (mounted === 'ended') return null;
  if ('failed' in mounted) return mounted.failed;
  try {
    plan.view.onMounted(mounted.firstPid);
    return null;
  } catch (error) {
    // Unless it was ended meanwhile: then its own result says why.
    return errnoOf(error) === 'ENOENT'
      ? null
      : `The workspace inside could not be opened: ${messageOf(error)}. ${REPAIR}`;
  }
}

const REPAIR = 'Check that the state folder has room, and that not too many files and processes are open.';

interface LaunchSteps {
  readonly launcher: Launcher;
  readonly plan: ProcessPlan;
  /** Gets the files that are made for the run. */
  readonly files: string[];
  readonly input: LiveInput | null;
}

/** Does everything that may fail before the command is started. */
function load({ launcher, plan, files, input }: LaunchSteps): void {
  const { limits } = plan;
  const { cgroup, fds } = launcher;
  cgroup?.limit(limits);
  const command = commandOf(plan, files);
  const words = [
    ...[plan.bwrap, '--args', String(fds.options), '--json-status-fd', String(fds.status)],
    ...['--block-fd', String(fds.go), ...(fds.seccomp === null ? [] : ['--seccomp', String(fds.seccomp)])],
    ...['--', '/bin/sh', '-c', insideScript(limits, launcher), 'sh', ...withVariables(command.argv, plan.request)],
  ];
  launcher.load({
    script: outsideScript({
      limits,
      cgroup,
      words: underView(plan, words),
      stdin: input?.path ?? stdinFile(plan, files),
    }),
    options: [...plan.system, ...command.mount, ...plan.mounts, ...environment(plan)].join('\0'),
  });
}

function underView({ view: { overlay }, bwrap }: ProcessPlan, words: readonly string[]): readonly string[] {
  return overlay === null ? words : underOverlays({ kind: overlay.program, bwrap }, overlay.mounts, words);
}

async function openWay(launcher: Launcher, { request, dialer }: ProcessPlan): Promise<SandboxNetwork | null> {
  if (request.network === undefined || dialer === undefined) return null;
  return openNetwork(launcher.started.child, request, dialer);
}

function removeAll(files: readonly string[]): void {
  for (const file of files) rmSync(file, { force: true });
}

/** Removes the group after the result was returned. */
async function removeSoon(cgroup: Cgroup): Promise<boolean> {
  await new Promise((resolve) => setImmediate(resolve));
  return cgroup.remove();
}

async function outcome(given: {
  plan: ProcessPlan;
  supervised: SupervisedRun;
  used: ReturnType<NamespaceTree['used']>;
  ended: { readonly exitCode: number | null; readonly report: string };
  network: SandboxNetwork | null;
}): Promise<Result<ProcessEnd>> {
  const { plan, supervised, used, network } = given;
  const { exitCode, report } = given.ended;
  const endedBy = supervised.endedBy ?? (exitCode === 0 ? null : used.passed);
  if (exitCode === null && endedBy === null) return whyNotStarted(supervised);
  const coded = signalOf(exitCode);
  const signal = isSignal(coded, report) ? coded : null;
  return ok({
    supervised,
    exitCode: signal === null ? exitCode : null,
    signal,
    endedBy: endedBy ?? (await endOfSignal(coded, plan, used.cpuMs)),
    cpuMs: used.cpuMs,
    peakMemoryBytes: used.peakMemoryBytes,
    network: network?.uses() ?? [],
    networkDropped: network?.dropped() ?? 0,
  });
}

const BROKEN_WAY =
  'What opens the way to the network did not behave as ours does, so the run was ended; how far the command came is not known.';

function withoutResult({ output }: SupervisedRun, why: string): Result<never> {
  output.log.dispose();
  return fail('SANDBOX_UNAVAILABLE', why);
}

function whyNotStarted({ startError, signal, output }: SupervisedRun): Result<never> {
  const text = startError?.message ?? Buffer.from(output.stderr.head).toString('utf8');
  output.log.dispose();
  if (text.includes(REFUSED)) return fail('SANDBOX_UNAVAILABLE', text.trim().slice(0, 400), { refused: 'overlay' });
  if (/Can't chdir to/.test(text)) return fail('INVALID_PATH', `The folder to start in is not there: ${text.trim()}.`);
  if (signal === null) return explainFailure(text);
  // The command may have begun, so this must not look like an error to retry.
  return fail(
    'SANDBOX_UNAVAILABLE',
    `${signal} from outside ended the sandbox; how far the command came is not known.`,
  );
}

const INSIDE_SCRIPT = '/run/script';

function commandOf(plan: ProcessPlan, files: string[]): { argv: readonly string[]; mount: readonly string[] } {
  const { command } = plan.request;
  const isScript = 'script' in command;
  const [program = '', ...rest] = isScript ? scriptWords(command, INSIDE_SCRIPT) : command;
  return {
    argv: [resolveProgram(program, plan.path, isExecutable), ...rest],
    mount: isScript ? ['--ro-bind', temporaryFile(plan, files, command.script), INSIDE_SCRIPT] : [],
  };
}

/** Without input, stdin is the null device: some programs search an empty file instead of the folder. */
function stdinFile(plan: ProcessPlan, files: string[]): string {
  const { stdin } = plan.request;
  return stdin === undefined || stdin === LIVE_INPUT ? '/dev/null' : temporaryFile(plan, files, stdin);
}

function temporaryFile(plan: ProcessPlan, files: string[], content: string | Uint8Array): string {
  const file = join(plan.folder, uniqueName('input'));
  writeFileSync(file, content, { mode: 0o600 });
  files.push(file);
  return file;
}

/**
 * A shell prints the name of the signal that ended its child, except for two signals. A shell without its last word was
 * killed itself.
 */
function isSignal(coded: string | null, report: string): boolean {
  if (coded === null) return false;
  return coded === 'SIGINT' || coded === 'SIGPIPE' || report.trim() !== DONE;
}

/** The shell inside reports a signal as 128 plus its number. Null without an exit code: the run was killed from outside. */
function signalOf(exitCode: number | null): string | null {
  if (exitCode === null) return 'SIGKILL';
  const found = Object.entries(osConstants.signals).find(([, number]) => number === exitCode - 128);
  return exitCode > 128 && found !== undefined ? found[0] : null;
}

/** A command may exit with the code of a signal that it never got, so there must be a sign of the limit as well. */
async function endOfSignal(
  signal: string | null,
  { view, limits }: ProcessPlan,
  cpuMs: number | null,
): Promise<RunEnd | null> {
  if (signal === 'SIGXCPU') return cpuMs !== null && cpuMs >= limits.cpuMs ? 'cpu' : null;
  if (signal !== 'SIGXFSZ' || view.writable === null) return null;
  const { largest } = await sizeOfFolder(view.writable.folder);
  return largest >= limits.fileBytes ? 'write' : null;
}
