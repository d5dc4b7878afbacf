import type { Result } from './result.ts';
import type { MountMode, NetworkAccess, RunResult } from './sandbox.ts';

/** A program and its arguments, or a script for bash, on behalf of a call. */
export interface CommandRequest {
  readonly command: readonly string[] | { readonly script: string };
  /** Relative to the workspace. Left out: the workspace. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly mounts: MountMode;
  readonly network?: NetworkAccess;
  /** Left out: empty. */
  readonly stdin?: string;
  onOutput?(text: string): void;
}

/** A process that goes on after the call that started it. */
export interface BackgroundProcess {
  readonly id: string;
  readonly command: string;
  readonly startedAt: number;
  readonly state: 'running' | 'exited';
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly outputBytes: number;
}

/**
 * The only way a tool runs a process; everything runs in the sandbox. SANDBOX_UNAVAILABLE when it cannot isolate,
 * NOT_CONFIGURED when nobody gave one. A command that fails, times out or is cancelled is a result, not a failure.
 * Background processes belong to the session that started them; FILE_NOT_FOUND for one that is not there.
 */
export interface Commands {
  run(request: CommandRequest): Promise<Result<RunResult>>;
  start(request: CommandRequest): Promise<Result<BackgroundProcess>>;
  list(): readonly BackgroundProcess[];
  output(id: string, offset: number, length: number): Result<{ readonly text: string; readonly next: number }>;
  input(id: string, text: string): Promise<Result<BackgroundProcess>>;
  stop(id: string): Promise<Result<BackgroundProcess>>;
}
