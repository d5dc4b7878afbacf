import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Limits, OutputChunk, OutputFilter, OutputLog, RunEnd, RunOutput } from '../../kernel/world/sandbox.ts';
import { createOutput } from './output.ts';
import type { StartedProcess } from './start.ts';

/**
 * Drives one process from its start to its end: read its streams and watch its limits → on a limit or a cancel TERM,
 * then KILL → wait until it and its tree are gone → collect.
 */

/** How the adapter finds and ends the processes of one run. */
export interface ProcessTree {
  /** How often to check. Left out: often at first, then less. */
  readonly pauseMs?: number;
  /** Measures the tree and returns the limit that it has passed, if any. */
  check(limits: Limits): RunEnd | null;
  signal(name: 'SIGTERM'): void;
  /** Ends everything at once. May be called again. */
  kill(): void;
  /** Called after the main process has ended: true when nothing of the tree is left. */
  isGone(): boolean;
}

export interface TreeUse {
  readonly cpuMs: number;
  readonly peakMemoryBytes: number;
}

export interface MeasuredTree extends ProcessTree {
  /** Null when it was never measured. */
  used(): TreeUse | null;
}

export interface SupervisedRun {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly endedBy: RunEnd | null;
  readonly durationMs: number;
  readonly output: RunOutput;
  /** Set when the process could not be started. */
  readonly startError: Error | null;
}

export interface SuperviseOptions {
  readonly limits: Limits;
  /** Where a long output is spooled. */
  readonly folder: string;
  readonly signals: readonly AbortSignal[];
  onOutput?: ((chunk: OutputChunk) => void) | undefined;
  filter?: OutputFilter | undefined;
  onStart?: ((log: OutputLog) => void) | undefined;
  tree(child: ChildProcess): ProcessTree;
}

const FIRST_CHECK_MS = 20;
const SLOWEST_CHECK_MS = 250;
/** A grandchild may keep a pipe open; the result does not wait for it longer than this. */
const DRAIN_MS = 500;
/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const READ_BYTES = 64 * 1024;

export async function supervise(started: StartedProcess, options: SuperviseOptions): Promise<SupervisedRun> {
  const startedAt = process.hrtime.bigint();
  const { limits } = options;
  const tree = options.tree(started.child);
  const ending = createEnding(tree, Math.min(limits.graceMs, MAX_TIMER_MS));
  const output = createOutput({
    folder: options.folder,
    keepBytes: limits.keepBytes,
    maxBytes: limits.outputBytes,
    onOutput: options.onOutput,
    filter: options.filter,
    onTooMuch: () => ending.atOnce('output'),
  });
  options.onStart?.(output.log);
  const readers = [
    read(started.stdout, (bytes) => output.write('stdout', bytes)),
    read(started.stderr, (bytes) => output.write('stderr', bytes)),
  ];
  const stopWatching = watch({ tree, limits, ending, signals: options.signals });

  const exit = await started.exit;
  const bug = stopWatching();
  await waitUntilGone(tree);
  ending.done();
  await drained(readers);
  if (bug !== null) {
    output.finish().log.dispose();
    throw bug.error;
  }

  return {
    exitCode: exit.code,
    signal: exit.signal,
    endedBy: ending.reason(),
    durationMs: Number(process.hrtime.bigint() - startedAt) / 1e6,
    output: output.finish(),
    startError: exit.error,
  };
}

interface Ending {
  gently(reason: RunEnd): void;
  atOnce(reason: RunEnd): void;
  reason(): RunEnd | null;
  done(): void;
}

/** Ends a run. The first reason stays; a later one can only make it faster. */
function createEnding(tree: ProcessTree, graceMs: number): Ending {
  let first: RunEnd | null = null;
  let over = false;
  let timer: NodeJS.Timeout | null = null;

  function kill(): void {
    if (over) return;
    tree.kill();
    timer = setTimeout(kill, 200);
  }

  return {
    gently(reason) {
      if (over || first !== null) return;
      first = reason;
      tree.signal('SIGTERM');
      timer = setTimeout(kill, graceMs);
    },
    atOnce(reason) {
      if (over) return;
      first ??= reason;
      if (timer !== null) clearTimeout(timer);
      kill();
    },
    reason: () => first,
    done() {
      over = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Watches the limits. Returns a function that stops it, and returns the error of a check that threw. */
function watch(given: WatchOptions): () => { error: unknown } | null {
  const { tree, limits, ending, signals } = given;
  const cancel = (event: { target: unknown }) =>
    ending.gently((event.target as AbortSignal).reason === CLOSED ? 'closed' : 'cancel');
  for (const signal of signals) {
    if (signal.aborted) cancel({ target: signal });
    else signal.addEventListener('abort', cancel, { once: true });
  }
  const deadline = setTimeout(() => ending.gently('time'), Math.min(limits.timeMs, MAX_TIMER_MS));

  let pause = tree.pauseMs ?? FIRST_CHECK_MS;
  let timer = setTimeout(check, pause);
  let bug: { error: unknown } | null = null;
  function check(): void {
    try {
      const passed = tree.check(limits);
      if (passed !== null) ending.atOnce(passed);
    } catch (error) {
      // An exception in a timer would end this process. A run that cannot be watched is ended.
      bug ??= { error };
      tree.kill();
    }
    pause = tree.pauseMs ?? Math.min(SLOWEST_CHECK_MS, pause * 1.5);
    timer = setTimeout(check, pause);
  }

  return () => {
    clearTimeout(deadline);
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener('abort', cancel);
    return bug;
  };
}

interface WatchOptions {
  readonly tree: ProcessTree;
  readonly limits: Limits;
  readonly ending: Ending;
  readonly signals: readonly AbortSignal[];
}

/** The abort reason of a run whose sandbox was closed. */
export const CLOSED = Symbol('the sandbox was closed');

async function waitUntilGone(tree: ProcessTree): Promise<void> {
  for (let attempt = 0; !tree.isGone(); attempt++) {
    tree.kill();
    await new Promise((resolve) => (attempt < 20 ? setImmediate(resolve) : setTimeout(resolve, 5)));
    if (attempt > 2_000) return;
  }
}

function read(fd: number, onBytes: (bytes: Uint8Array) => void): Socket {
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  // Node's types know `onread` only for connect; the constructor takes it as well, and one buffer serves all reads.
  const options = {
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer,
      callback(size: number): boolean {
        onBytes(buffer.subarray(0, size));
        return true;
      },
    },
  };
  const socket = new Socket(options);
  socket.on('error', () => socket.destroy());
  socket.resume();
  return socket;
}

async function drained(readers: readonly Socket[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    // After one more read of the pipes: on a busy machine the exit may be reported before earlier output.
    timer = setTimeout(() => setImmediate(resolve), DRAIN_MS);
  });
  await Promise.race([Promise.all(readers.map(closed)), late]);
  clearTimeout(timer);
  for (const reader of readers) reader.destroy();
}

function closed(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve();
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
