import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createUnlinkedFile, isExecutable, uniqueName } from '../host/files.ts';
import { OWN_PROCESS_ID } from '../host/process-identity.ts';
import { messageOf } from '../kernel/error.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { LIVE_INPUT, type RunRequest, type RunResult, type Sandbox } from '../kernel/world/sandbox.ts';
import { endOrphans, OWNER_ENV } from './orphans.ts';
import { createOwnedFolder, type OwnedFolder } from './owned-folder.ts';
import { createQueue } from './queue.ts';
import { type CheckedRequest, checkRequest, resolveProgram } from './request.ts';
import { checkSize } from './request-size.ts';
import { endMessage } from './run/end-message.ts';
import { createLiveInput, type LiveInput, readEndOf } from './run/input-pipe.ts';
import { createPipePool, type PipePool } from './run/pipes.ts';
import { markedTree } from './run/processes-by-environment.ts';
import { psByVariable, psTree } from './run/ps-tree.ts';
import { scriptWords } from './run/script-words.ts';
import { type StartedProcess, startProcess } from './run/start.ts';
import { CLOSED, type MeasuredTree, supervise } from './run/supervise.ts';

/** A sandbox whose processes are ordinary processes of this machine; `plan` decides what they may do. */
export interface HostSandboxOptions extends Pick<Sandbox, 'kind' | 'status'> {
  readonly path: string;
  readonly stateDir: string;
  readonly maxRunning?: number;
  /** Folders that no workspace may contain. */
  readonly privateFolders: readonly string[];
  /** How processes are found. Left out: the way of this system. */
  readonly processes?: 'proc' | 'ps';
  /** `folder` is the sandbox's own. */
  plan(request: RunRequest, checked: CheckedRequest, folder: string): Promise<Result<HostPlan>>;
}

export interface HostPlan {
  /** A program with arguments that runs the command; empty when it runs as it is. */
  readonly wrapper: readonly string[];
  /** For the shell that starts it. */
  readonly ulimits: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where a script is put. */
  readonly folder: string;
  /** Called once when every process has ended, with what they wrote; without it when none could be started. */
  settle(output?: RunResult['output']): Promise<Pick<RunResult, 'network' | 'notes'>>;
}

/** Ordinary processes write to the real files. */
export const NO_STAGES = { kind: 'none', folder: null } as const;

const MARK = 'TOOLWRIGHT_RUN';

export function createHostSandbox(options: HostSandboxOptions): Sandbox {
  const queue = createQueue(options.maxRunning ?? 32);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const running = new Set<Promise<unknown>>();
  let prepared: { folder: OwnedFolder; pipes: PipePool } | null = null;

  function prepare(): { folder: OwnedFolder; pipes: PipePool } {
    if (prepared !== null) return prepared;
    // When this process is killed, only the next Toolwright process ends its runs: they are ordinary processes.
    endOrphans(isByPs(options) ? psByVariable : undefined);
    const folder = createOwnedFolder(options.stateDir, options.kind);
    prepared = { folder, pipes: createPipePool(folder.path) };
    return prepared;
  }

  function tidy(): void {
    prepared?.pipes.close();
    prepared?.folder.remove();
    prepared = null;
  }

  async function run(request: RunRequest): Promise<Result<RunResult>> {
    if (closing.signal.aborted) return fail('SANDBOX_UNAVAILABLE', 'Toolwright is shutting down.');
    if (request.mounts === 'staged') return nothingStaged(options.kind);
    const checked = checkRequest(request, options.privateFolders);
    if (!checked.ok) return checked;
    const sized = checkSize(request, checked.value.limits);
    if (!sized.ok) return sized;
    const leave = await queue.enter(request.signal);
    if (leave === null) return fail('CANCELLED', 'Cancelled before it ran: nothing happened.');
    try {
      return await runChecked(request, checked.value);
    } finally {
      leave();
    }
  }

  async function runChecked(request: RunRequest, checked: CheckedRequest): Promise<Result<RunResult>> {
    // Every process with this mark is ended with the run; other runs have other marks.
    const mark = `${OWN_PROCESS_ID}-${randomBytes(8).toString('hex')}`;
    const set = await setUp(request, checked, mark);
    if (!set.ok) return set;
    const { plan, folder, started, input, script, program } = set.value;
    let tree: MeasuredTree | null = null;
    const supervised = await supervise(started, {
      limits: checked.limits,
      folder,
      signals: request.signal === undefined ? [closing.signal] : [request.signal, closing.signal],
      onOutput: request.onOutput?.bind(request),
      filter: request.filterOutput?.(),
      onStart: (log) => request.onStart?.({ log, input }),
      tree: ({ pid = 0 }) => {
        tree = (isByPs(options) ? psTree : markedTree)(pid, `${MARK}=${mark}`);
        return tree;
      },
    });
    input?.end();
    rmSync(script, { force: true });
    const settled = await plan.settle(supervised.output);
    const { exitCode, signal, endedBy, output, durationMs, startError } = supervised;
    if (startError !== null) {
      output.log.dispose();
      return fail(
        'EXECUTION_ERROR',
        `${program} could not be started: ${startError.message}. Check its name and path.`,
      );
    }
    const used = (tree as MeasuredTree | null)?.used() ?? null;
    return ok<RunResult>({
      exitCode,
      signal,
      endedBy,
      endMessage: endedBy === null ? null : endMessage(endedBy, checked.limits, durationMs),
      durationMs,
      cpuMs: used?.cpuMs ?? null,
      peakMemoryBytes: used?.peakMemoryBytes ?? null,
      output,
      staged: null,
      sandbox: options.kind,
      ...settled,
    });
  }

  async function setUp(request: RunRequest, checked: CheckedRequest, mark: string): Promise<Result<LaunchedRun>> {
    let planned: HostPlan | undefined;
    try {
      const { folder: own, pipes } = prepare();
      const folder = own.path;
      const plan = await options.plan(request, checked, folder);
      if (!plan.ok) return plan;
      planned = plan.value;
      return ok({
        ...launch(request, checked.cwd, { plan: planned, mark, pipes, path: options.path }),
        plan: planned,
        folder,
      });
    } catch (error) {
      await planned?.settle();
      const repair = 'Check that the state folder has room, and that not too many files and processes are open.';
      return fail('SANDBOX_UNAVAILABLE', `The run could not be set up: ${messageOf(error)}. ${repair}`);
    }
  }

  return {
    kind: options.kind,
    status: options.status,
    run(request) {
      const promise = run(request);
      running.add(promise);
      return promise.finally(() => running.delete(promise));
    },
    ...withoutStages(options.kind),
    async close() {
      closing.abort(CLOSED);
      while (running.size > 0) await Promise.allSettled([...running]);
      tidy();
    },
  };
}

function launch(
  request: RunRequest,
  cwd: string,
  { plan, mark, pipes, path }: { plan: HostPlan; mark: string; pipes: PipePool; path: string },
): Omit<LaunchedRun, 'plan' | 'folder'> {
  const script = join(plan.folder, uniqueName('script'));
  if ('script' in request.command) writeFileSync(script, request.command.script, { mode: 0o600 });
  const argv = 'script' in request.command ? scriptWords(request.command, script) : request.command;
  const program = resolveProgram(argv[0] ?? '', path.split(':'), isExecutable);
  let input: LiveInput | null = null;
  try {
    input = request.stdin === LIVE_INPUT ? createLiveInput(pipes) : null;
    const given = {
      // A shell in between, so that a program that does not exist is an exit code as it is everywhere else.
      program: '/bin/sh',
      args: ['-c', `${plan.ulimits}; exec "$@"`, 'sh', ...plan.wrapper, program, ...argv.slice(1)],
      cwd,
      env: { ...plan.env, ...OWNER_ENV, [MARK]: mark },
      stdin: input === null ? stdinOf(request, plan.folder) : readEndOf(input),
      passed: [],
    };
    return { started: startProcess(given, pipes), input, script, program };
  } catch (error) {
    input?.end();
    rmSync(script, { force: true });
    throw error;
  }
}

function withoutStages(kind: Sandbox['kind']): Pick<Sandbox, 'compare' | 'open'> {
  const refuse = async (): Promise<Result<never>> => nothingStaged(kind);
  return { compare: refuse, open: refuse };
}

function nothingStaged(kind: Sandbox['kind']): Result<never> {
  return fail(
    'INVALID_INPUT',
    `The sandbox ${kind} has no private view of the workspace: use mounts 'read', or 'live' once a person has agreed to the command.`,
  );
}

interface LaunchedRun {
  readonly plan: HostPlan;
  readonly folder: string;
  readonly started: StartedProcess;
  readonly input: LiveInput | null;
  readonly script: string;
  readonly program: string;
}

function isByPs({ processes }: HostSandboxOptions): boolean {
  return (processes ?? (process.platform === 'linux' ? 'proc' : 'ps')) === 'ps';
}

function stdinOf({ stdin }: RunRequest, folder: string): number | 'ignore' {
  return stdin === undefined || stdin === LIVE_INPUT ? 'ignore' : createUnlinkedFile(folder, stdin);
}
