import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { failpoint } from '../../kernel/failpoint.ts';
import type { Pipe, PipePool } from './pipes.ts';

export interface ProcessLaunch {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: number | 'ignore';
  /** Descriptors that the child gets as 3, 4, …; they are closed here, whether it gets them or not. */
  readonly passed: readonly (number | 'pipe' | 'ipc')[];
}

/** A child with the read ends of its streams. Its owner reads both to the end, or abandons it. */
export interface StartedProcess {
  readonly child: ChildProcess;
  readonly stdout: number;
  readonly stderr: number;
  /** Settles once, also when the child could not be started. */
  readonly exit: Promise<ProcessExit>;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error: Error | null;
}

/** Starts a child in its own session, so that it has no terminal. Throws only when there are no descriptors left. */
export function startProcess(launch: ProcessLaunch, pipes: PipePool): StartedProcess {
  const given = [launch.stdin, ...launch.passed].filter((each) => typeof each === 'number');
  const kept: number[] = [];
  function take(): Pipe {
    const pipe = pipes.take();
    kept.push(pipe.readEnd);
    given.push(pipe.writeEnd);
    return pipe;
  }
  try {
    const [stdout, stderr] = [take(), take()];
    failpoint('sandbox.before_spawn');
    const child = spawn(launch.program, launch.args, {
      cwd: launch.cwd,
      env: { ...launch.env },
      stdio: [launch.stdin, stdout.writeEnd, stderr.writeEnd, ...launch.passed],
      detached: true,
    });
    failpoint('sandbox.after_spawn');
    return { child, stdout: stdout.readEnd, stderr: stderr.readEnd, exit: exitOf(child) };
  } catch (error) {
    for (const fd of kept) closeSync(fd);
    throw error;
  } finally {
    for (const fd of given) closeSync(fd);
  }
}

function exitOf(child: ChildProcess): Promise<ProcessExit> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }));
    child.once('exit', (code, signal) => resolve({ code, signal, error: null }));
  });
}
