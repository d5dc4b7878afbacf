import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../kernel/error.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { LIVE_INPUT, type RunEnd, type RunRequest, type RunResult, type Sandbox } from '../kernel/sandbox.ts';
import { endMessage } from './end-message.ts';
import { freshName, isExecutable, namelessFile } from './files.ts';
import { createLiveInput, type LiveInput, readEndOf } from './input-pipe.ts';
import { createPipePool, type PipePool } from './pipes.ts';
import { allPids, isGone, memoryOf, pidsWithEnvironment, samplesOf, sharedMemoryOfMachine } from './proc.ts';
import { createQueue } from './queue.ts';
import { type CheckedRequest, checkRequest, resolveProgram } from './request.ts';
import { checkSize } from './request-size.ts';
import { type Started, start } from './start.ts';
import { CLOSED, supervise, type Tree } from './supervise.ts';
import { createTally } from './tally.ts';

/**
 * No isolation at all: the command runs as the user, with the user's files and network. Only for people who chose it
 * in words; every result says so. What is kept: the environment, time, output and process limits, and that the
 * processes of the run are ended, except one that leaves its session and clears its environment on purpose.
 */

const NOT_ISOLATED =
  'This ran without a sandbox, because the configuration says so: it could read and change every file of the user, and use the network.';

export interface NoneOptions {
  readonly path: string;
  readonly home: string;
  readonly stateFolder: string;
  readonly maxRunning?: number;
}

export function createNone(options: NoneOptions): Sandbox {
  const queue = createQueue(options.maxRunning ?? 32);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const running = new Set<Promise<unknown>>();
  let prepared: { folder: string; pipes: PipePool } | null = null;
  let counter = 0;

  function prepare(): { folder: string; pipes: PipePool } {
    if (prepared !== null) return prepared;
    const folder = mkdtempSync(join(options.stateFolder, `toolwright-none-${process.pid}-`));
    prepared = { folder, pipes: createPipePool(folder) };
    process.once('exit', tidy);
    return prepared;
  }

  function tidy(): void {
    process.off('exit', tidy);
    prepared?.pipes.close();
    if (prepared !== null) rmSync(prepared.folder, { recursive: true, force: true });
    prepared = null;
  }

  async function run(request: RunRequest): Promise<Result<RunResult>> {
    if (closing.signal.aborted) return fail('SANDBOX_UNAVAILABLE', 'Toolwright is shutting down.');
    const checked = checkRequest(request, []);
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

  async function runChecked(request: RunRequest, { cwd, limits }: CheckedRequest): Promise<Result<RunResult>> {
    const mark = `${process.pid}-${++counter}`;
    const set = setUp(request, cwd, mark);
    if (!set.ok) return set;
    const { started, input, script, program, folder } = set.value;
    const used = { cpuMs: 0, peakMemoryBytes: 0, sampled: false };
    const supervised = await supervise(started, {
      limits,
      folder,
      signals: request.signal === undefined ? [closing.signal] : [request.signal, closing.signal],
      onOutput: request.onOutput?.bind(request),
      onStart: (log) => request.onStart?.({ log, input }),
      tree: (child) => markedTree(child.pid ?? 0, `${MARK}=${mark}`, used),
    });
    input?.end();
    rmSync(script, { force: true });
    const { exitCode, signal, endedBy, output, durationMs, startError } = supervised;
    if (startError !== null) {
      output.log.dispose();
      return fail(
        'EXECUTION_ERROR',
        `${program} could not be started: ${startError.message}. Check its name and path.`,
      );
    }
    return ok<RunResult>({
      exitCode,
      signal,
      endedBy,
      endMessage: endedBy === null ? null : endMessage(endedBy, limits),
      durationMs,
      cpuMs: used.sampled ? used.cpuMs : null,
      peakMemoryBytes: used.sampled ? used.peakMemoryBytes : null,
      output,
      network: [],
      changes: null,
      quarantined: [],
      sandbox: 'none',
      notes: [NOT_ISOLATED],
    });
  }

  function setUp(request: RunRequest, cwd: string, mark: string): Result<NoneRun> {
    try {
      const { folder, pipes } = prepare();
      const script = join(folder, freshName('script'));
      if ('script' in request.command) writeFileSync(script, request.command.script, { mode: 0o600 });
      const argv = 'script' in request.command ? ['/bin/bash', script] : request.command;
      const program = resolveProgram(argv[0] ?? '', options.path.split(':'), isExecutable);
      const input = request.stdin === LIVE_INPUT ? createLiveInput(pipes) : null;
      const launch = {
        // A shell in between, so that a program that does not exist is an exit code as it is everywhere else.
        program: '/bin/sh',
        args: ['-c', 'ulimit -c 0; exec "$@"', 'sh', program, ...argv.slice(1)],
        cwd,
        env: { ...environment(options, request), [MARK]: mark },
        stdin: input === null ? stdinOf(request, folder) : readEndOf(input),
        passed: [],
      };
      return ok({ started: start(launch, pipes), input, script, program, folder });
    } catch (error) {
      const repair = 'See that the state folder has room, and that not too many files and processes are open.';
      return fail('SANDBOX_UNAVAILABLE', `The run could not be set up: ${messageOf(error)}. ${repair}`);
    }
  }

  return {
    kind: 'none',
    async status() {
      const details = {
        isolation: 'none',
        limits: 'watchdog for time, CPU, memory, processes and output',
        ending: 'by a mark in the environment: a process that clears it and leaves its session goes on',
      };
      return ok({ kind: 'none', isolated: false, details });
    },
    run(request) {
      const promise = run(request);
      running.add(promise);
      return promise.finally(() => running.delete(promise));
    },
    async close() {
      closing.abort(CLOSED);
      while (running.size > 0) await Promise.allSettled([...running]);
      tidy();
    },
  };
}

function stdinOf({ stdin }: RunRequest, folder: string): number | 'ignore' {
  return stdin === undefined || stdin === LIVE_INPUT ? 'ignore' : namelessFile(folder, stdin);
}

interface NoneRun {
  readonly started: Started;
  readonly input: LiveInput | null;
  readonly script: string;
  readonly program: string;
  readonly folder: string;
}

const MARK = 'TOOLWRIGHT_RUN';

/** A process has no environment for a moment when it becomes another program: only a lasting silence is an end. */
const QUIET_MS = 20;

/** Processes are found by a mark in their environment: they keep it when they leave their group or session. */
function markedTree(
  pid: number,
  mark: string,
  used: { cpuMs: number; peakMemoryBytes: number; sampled: boolean },
): Tree {
  const tally = createTally(pid);
  const sharedBefore = sharedMemoryOfMachine();
  let quietSince: number | undefined;
  const members = (): number[] => {
    const marked = pidsWithEnvironment(mark);
    return marked.includes(pid) || !allPids().includes(pid) ? marked : [pid, ...marked];
  };
  const send = (signal: NodeJS.Signals): void => {
    for (const each of members()) tryKill(each, signal);
    tryKill(-pid, signal);
  };
  return {
    check(limits): RunEnd | null {
      const samples = samplesOf(members());
      const { cpuMs, writtenBytes } = tally.add(samples);
      const memoryBytes = memoryOf(samples, limits.memoryBytes, sharedBefore);
      used.sampled = true;
      used.cpuMs = cpuMs;
      used.peakMemoryBytes = Math.max(used.peakMemoryBytes, memoryBytes);
      if (cpuMs > limits.cpuMs) return 'cpu';
      if (memoryBytes > limits.memoryBytes) return 'memory';
      if (writtenBytes > limits.writeBytes) return 'write';
      return samples.reduce((sum, { threads }) => sum + threads, 0) > limits.processes ? 'processes' : null;
    },
    signal: send,
    kill: () => send('SIGKILL'),
    isGone() {
      if (!pidsWithEnvironment(mark).every(isGone)) quietSince = undefined;
      else quietSince ??= performance.now();
      return quietSince !== undefined && performance.now() - quietSince >= QUIET_MS;
    },
  };
}

function environment(options: NoneOptions, request: RunRequest): Record<string, string> {
  return {
    PATH: options.path,
    HOME: options.home,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...request.env,
    TOOLWRIGHT_SANDBOX: 'none',
    TOOLWRIGHT_CALL: request.tag,
  };
}

function tryKill(pid: number, signal: NodeJS.Signals): void {
  if (pid === 0) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
