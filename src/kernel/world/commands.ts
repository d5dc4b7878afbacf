import type { Result } from '../result.ts';
import type { RunRequest, RunResult } from './sandbox.ts';

/** A program and its arguments, or a script, on behalf of a call. */
export interface CommandRequest {
  readonly command: RunRequest['command'];
  /** Relative to the workspace. Left out: the workspace. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /**
   * `stage`: its writes go to a stage, and its changes wait to be kept. `nothing`: it cannot write. `workspace`: it writes to
   * the real files, only where the sandbox has no stages.
   */
  readonly writes: 'nothing' | 'stage' | 'workspace';
  /** The command in one line, for a person who is asked about its changes. */
  readonly title: string;
  /** The allow rule by which it runs, which also keeps its ordinary changes. */
  readonly allowedBy?: string | null;
  /** `allowed`: the hosts the user has listed, if there are any. A list: these. Left out: no network. */
  readonly network?: 'allowed' | readonly string[];
  onOutput?(text: string): void;
  /** Hears what the run waits for before it starts. */
  onWait?(message: string): void;
}

/** A run that has ended, and the stage with its changes: null when it changed nothing, or could not stage. */
export interface CommandResult extends RunResult {
  readonly stage: string | null;
}

/** A process that goes on after the call that started it. */
export interface BackgroundProcess {
  readonly id: string;
  /** Its name for people and the model. */
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly state: 'running' | 'exited';
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Of both streams; `keptBytes` of them can be read. */
  readonly outputBytes: number;
  readonly keptBytes: number;
  /** Whether it waits for input now. Null where that cannot be told. */
  readonly awaitsInput: boolean | null;
  /** Remarks: why it ended early, missing isolation. */
  readonly notes: readonly string[];
}

/** Bytes of the log from `offset` on, as text; the next page begins at `next`. */
export interface OutputPage {
  readonly text: string;
  readonly offset: number;
  readonly next: number;
}

/**
 * The only way a tool runs a process; everything runs in the sandbox. SANDBOX_UNAVAILABLE when it cannot isolate,
 * NOT_CONFIGURED when there is none, INVALID_PATH for a folder outside the workspace. A command that fails, times out
 * or is cancelled is a result, not a failure; the receiver of a result disposes of its log.
 *
 * Background processes belong to the session that started them, hold no locks, and end with our own process.
 * FILE_NOT_FOUND for one that is not there, TOO_LARGE when there are too many, CONFLICT for input to one that has ended.
 */
export interface Commands {
  run(request: CommandRequest): Promise<Result<CommandResult>>;
  start(request: CommandRequest): Promise<Result<BackgroundProcess>>;
  /**
   * Hands on the changes of an ended background process, as a stage. Null when there are none. CONFLICT while it runs; TOO_LARGE
   * when there are more than can be listed.
   */
  stageOf(id: string): Promise<Result<string | null>>;
  list(): readonly BackgroundProcess[];
  process(id: string): Result<BackgroundProcess>;
  /** A negative offset counts from the end. */
  output(id: string, offset: number, length: number): Result<OutputPage>;
  /** `end` closes the input after the text. */
  input(id: string, text: string, end: boolean): Result<BackgroundProcess>;
  /** Sends TERM, then KILL; answers when none of its processes is left. */
  stop(id: string): Promise<Result<BackgroundProcess>>;
}
