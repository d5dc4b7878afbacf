import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Sandbox } from '../../kernel/world/sandbox.ts';
import type { StageFolder } from '../../kernel/world/stage.ts';
import type { Caller } from '../../kernel/world/workspace.ts';

export interface RipgrepRun {
  readonly stdout: Buffer;
  readonly stderr: string;
  /** False when the time was over; then the output is what there was until then. */
  readonly complete: boolean;
  /** It was ended because it had more to say than it may. */
  readonly tooMuch: boolean;
}

export interface Ripgrep {
  /** True when it runs where it sees nothing but the workspace. */
  readonly contained: boolean;
  run(args: readonly string[], maxBytes?: number): Promise<Result<RipgrepRun>>;
  /**
   * Lists the files whose path matches `filter`, each as `seconds.micros…<TAB>path<NUL>`, in one pipeline: looking at the
   * time of thousands of files takes us far longer than it takes a program made for it. Undefined where there is none.
   * Only names come out, of sensitive files too, also of what is in sensitive folders.
   */
  listDated?(args: readonly string[], filter: string): Promise<Result<RipgrepRun>>;
}

/** An older `find` does not know the option, and leaves its input to what comes after it. */
const DATED =
  '[ -x "$1" ] || exit 127; rg="$1"; filter="$2"; shift 2; "$rg" "$@" | ' +
  '"$rg" --no-config --null-data --color=never -e "$filter" - | ' +
  '{ find -files0-from - -maxdepth 0 -printf "%T@\\t%p\\0" || xargs -0 -r stat --printf "%.6Y\\t%n\\0" --; } || exit 1';

/** One processor less than there are: looking at times takes as long as the listing, and goes on beside it. */
const LISTING_THREADS = `--threads=${Math.max(1, availableParallelism() - 1)}`;

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Of the call's time, left for what comes after the search. */
const RESERVE_MS = 1000;

/** The folder of the program: a sandbox must show it read-only, or search cannot run inside. */
export async function ripgrepFolder(): Promise<string> {
  return dirname((await program()) ?? '/usr/bin/rg');
}

export function ripgrepFor(caller: Caller, place: RipgrepPlace, sandbox: Sandbox | undefined): Ripgrep {
  const started = performance.now();
  const timeMs = () => Math.max(500, caller.timeout * 1000 - RESERVE_MS - (performance.now() - started));
  async function start(maxBytes: number, commandOf: (rg: string) => readonly string[]): Promise<Result<RipgrepRun>> {
    const rg = await program();
    if (rg === undefined) {
      return fail(
        'NOT_CONFIGURED',
        'Search needs ripgrep, and there is none for this platform: install @vscode/ripgrep again.',
      );
    }
    const given = { rg, command: commandOf(rg), ...place, caller, timeMs: timeMs(), maxBytes };
    return sandbox === undefined ? onHost(given) : inSandbox(sandbox, given);
  }
  return {
    contained: sandbox !== undefined && sandbox.kind !== 'none',
    run: (args, maxBytes = MAX_OUTPUT_BYTES) => start(maxBytes, (rg) => [rg, '--no-config', ...args]),
    ...(sandbox?.kind === 'bubblewrap' && {
      listDated: (args: readonly string[], filter: string) =>
        start(MAX_OUTPUT_BYTES, (rg) => {
          const list = [rg, filter, '--no-config', LISTING_THREADS, ...args];
          return ['bash', '-c', DATED, 'glob', ...list];
        }),
    }),
  };
}

/** The workspace, and the stage whose content is searched. */
interface RipgrepPlace {
  readonly root: string;
  readonly stage?: StageFolder;
}

interface RipgrepStart extends RipgrepPlace {
  readonly rg: string;
  readonly command: readonly string[];
  readonly caller: Caller;
  readonly timeMs: number;
  readonly maxBytes: number;
}

async function inSandbox(
  sandbox: Sandbox,
  { rg, command, root, stage, caller, timeMs, maxBytes }: RipgrepStart,
): Promise<Result<RipgrepRun>> {
  const ran = await sandbox.run({
    command,
    workspace: root,
    mounts: 'read',
    ...(stage && { stage }),
    tag: caller.callId,
    signal: caller.signal,
    limits: { timeMs, graceMs: 100, keepBytes: maxBytes, outputBytes: maxBytes },
  });
  if (!ran.ok) return ran;
  const { output, endedBy, exitCode } = ran.value;
  const { keptBytes } = output.log;
  const stdout = Buffer.from(output.log.read(0, keptBytes, 'stdout'));
  const stderr = Buffer.from(output.log.read(0, keptBytes, 'stderr')).toString('utf8');
  output.log.dispose();
  if (exitCode === 127 || exitCode === 126) {
    return fail('SANDBOX_UNAVAILABLE', `The sandbox does not show ${rg}: add its folder to readOnlyFolders.`);
  }
  return ok({ stdout, stderr, complete: endedBy === null, tooMuch: endedBy === 'output' });
}

/** Without a sandbox. It may be led through a swapped link, so whoever uses the hits checks each of them again. */
function onHost({ command, root, caller, timeMs, maxBytes }: RipgrepStart): Promise<Result<RipgrepRun>> {
  return new Promise((resolve) => {
    const [program = '', ...args] = command;
    const child = spawn(program, args, {
      cwd: root,
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: caller.signal,
    });
    const timer = setTimeout(stop, timeMs);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let size = 0;
    let complete = true;

    function stop(): void {
      complete = false;
      child.kill('SIGKILL');
    }
    function take(into: Buffer[], chunk: Buffer): void {
      size += chunk.length;
      if (size <= maxBytes) into.push(chunk);
      else stop();
    }
    child.stdout.on('data', (chunk: Buffer) => take(out, chunk));
    child.stderr.on('data', (chunk: Buffer) => take(err, chunk));
    child.on('error', (error) => resolve(fail('EXECUTION_ERROR', `ripgrep did not start: ${error.message}`)));
    child.on('close', () => {
      clearTimeout(timer);
      resolve(
        ok({
          stdout: Buffer.concat(out),
          stderr: Buffer.concat(err).toString('utf8'),
          complete,
          tooMuch: size > maxBytes,
        }),
      );
    });
  });
}

let programPath: Promise<string | undefined> | undefined;

/** Loaded when first needed: on a platform without it, everything but search works. */
function program(): Promise<string | undefined> {
  programPath ??= import('@vscode/ripgrep').then(
    ({ rgPath }) => rgPath,
    () => undefined,
  );
  return programPath;
}
