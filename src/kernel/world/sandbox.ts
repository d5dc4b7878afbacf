import type { Result } from '../result.ts';
import type { StagedChanges, StageFolder } from './stage.ts';

/**
 * How the workspace looks from inside. `read`: nothing of it can be written. `staged`: writes go to a stage, and the result
 * lists the changes; bubblewrap has it. `live`: writes reach the real files, and protected ones are read-only; seatbelt and
 * none have it. Sensitive files are hidden in all of them, except by none.
 */
export type MountMode = 'read' | 'staged' | 'live';

/** Limits of a run. Each applies to the whole process tree, root included, unless the adapter says otherwise. */
export interface Limits {
  /** Wall time. Ends with TERM, then KILL after `graceMs`. */
  readonly timeMs: number;
  readonly graceMs: number;
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly processes: number;
  /** One file. */
  readonly fileBytes: number;
  /** All files of the stage together, on disk. Measured while it runs, so a fast writer may pass it by a little. */
  readonly writeBytes: number;
  /** Entries of the stage: files and folders that were created or changed. Measured in the same way. */
  readonly newFiles: number;
  /** The private /tmp, and the private home beside it. */
  readonly tmpBytes: number;
  readonly openFiles: number;
  /** Both streams together. Output past `keepBytes` is counted and dropped; past this limit the run ends. */
  readonly outputBytes: number;
  /** How much of the output stays readable in the log. */
  readonly keepBytes: number;
}

const MB = 1024 * 1024;

export const DEFAULT_LIMITS: Limits = {
  timeMs: 120_000,
  graceMs: 3_000,
  cpuMs: 600_000,
  memoryBytes: 1024 * MB,
  processes: 512,
  fileBytes: 1024 * MB,
  writeBytes: 2048 * MB,
  newFiles: 200_000,
  tmpBytes: 256 * MB,
  openFiles: 4096,
  outputBytes: 4096 * MB,
  keepBytes: 32 * MB,
};

/**
 * The cause that ended a run before its command was done. `cancel`: the caller's signal. `closed`: the sandbox was closed.
 */
export type RunEnd = 'time' | 'cpu' | 'memory' | 'processes' | 'write' | 'output' | 'cancel' | 'closed';

/** Which hosts a run may reach. Without it there is no network at all, loopback of the machine included. */
export interface NetworkAccess {
  /** `example.org`, `*.example.org`, either with `:port`. A bare `*` is refused. */
  readonly hosts: readonly string[];
  /** Addresses or CIDR ranges that are not public and may be dialled all the same. */
  readonly privateAddresses?: readonly string[];
}

/** One connection the run asked for. `address` is the one dialled; null when none was. */
export interface NetworkUse {
  readonly tag: string;
  readonly host: string;
  readonly port: number;
  readonly allowed: boolean;
  readonly address: string | null;
  readonly reason: string;
}

export type OutputStream = 'stdout' | 'stderr';

export interface OutputChunk {
  readonly stream: OutputStream;
  /** Where the first byte stands in the log of both streams; bytes of the other stream may lie between the next ones. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Changes the output of a run while it comes. Must not throw. */
export interface OutputFilter {
  /** The bytes that can be shown now; the others wait for more of the stream. */
  add(stream: OutputStream, bytes: Uint8Array): Uint8Array;
  /** The bytes that waited, when nothing more comes. */
  end(stream: OutputStream): Uint8Array;
  /** A part of the output by itself, where not all of it is kept. */
  part(bytes: Uint8Array): Uint8Array;
}

/** A text for an interpreter, which other users of the machine cannot read. */
export interface ScriptCommand {
  readonly script: string;
  /** Left out: the shell. */
  readonly language?: 'python' | 'javascript';
  readonly args?: readonly string[];
}

export interface RunRequest {
  /** A program and its arguments, which every user of the machine can read while it runs, or a script. */
  readonly command: readonly string[] | ScriptCommand;
  /** Absolute folder on the host; it has the same path inside. */
  readonly workspace: string;
  /** Relative to the workspace, or absolute inside it. Left out: the workspace. */
  readonly cwd?: string;
  readonly mounts: MountMode;
  /** Required in mode `staged`. In mode `read` the run sees what this stage and those below it hold. */
  readonly stage?: StageFolder;
  /** On top of the adapter's own small environment; nothing of our process is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Left out: empty. LIVE_INPUT: the receiver of `onStart` writes it while the command runs. */
  readonly stdin?: Uint8Array | string | LiveInput;
  readonly limits?: Partial<Limits>;
  readonly network?: NetworkAccess;
  readonly signal?: AbortSignal;
  /** The call's id: every process of the run carries it as TOOLWRIGHT_CALL. */
  readonly tag: string;
  /**
   * At most one call in 50 ms, with at most the newest 64 KB of one stream; the log has the rest. When the run has ended,
   * one more for each stream that has something left. Must not throw.
   */
  onOutput?(chunk: OutputChunk): void;
  /** Begins the filter that all output passes before it is kept or passed on. Left out: it stays as it is. */
  filterOutput?(): OutputFilter;
  /** Hears the files in the workspace that the run cannot read, relative to it. The run waits for the answer before it starts. Must not throw. */
  onHidden?(files: readonly string[]): Promise<void>;
  onNetwork?(use: NetworkUse): void;
  /** Hears what the run waits for before it starts, such as the first look into the files of a workspace. Must not throw. */
  onWait?(message: string): void;
  /** Called before the command runs, and again when its start had to be repeated. Must not throw. */
  onStart?(running: RunningCommand): void;
}

export const LIVE_INPUT = Symbol('input that comes while the command runs');
type LiveInput = typeof LIVE_INPUT;

/** A command while it runs. The log is the one of its result; the input is null unless it was asked for. */
export interface RunningCommand {
  readonly log: OutputLog;
  readonly input: InputPipe | null;
}

export interface InputPipe {
  /** Bytes that were written and not yet taken by the pipe. */
  readonly waitingBytes: number;
  /** False when nothing can be written any more: it was closed, or the command has ended. */
  write(text: string): boolean;
  /** The command reads the end of its input. */
  close(): void;
  /** Whether a process of the run waits for input now. Null where that cannot be told. */
  isAwaited(): boolean | null;
}

/** The first and the last bytes of a stream; `totalBytes - head.length - tail.length` bytes between them are missing. */
export interface CapturedStream {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly totalBytes: number;
}

/** Both streams in order of arrival, up to `keepBytes`. The receiver of a result disposes of its log. */
export interface OutputLog {
  readonly keptBytes: number;
  readonly totalBytes: number;
  /** Past the end: empty. With `stream`, only that stream's bytes of the window. */
  read(offset: number, length: number, stream?: OutputStream): Uint8Array;
  /** The kept output in order, in pieces of one stream; if they alternate too often, the last piece has the rest of both. */
  pieces(): { readonly stream: OutputStream; readonly bytes: Uint8Array }[];
  dispose(): void;
}

export interface RunOutput {
  readonly stdout: CapturedStream;
  readonly stderr: CapturedStream;
  readonly log: OutputLog;
}

export interface RunResult {
  /** Null when a signal ended the command. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly endedBy: RunEnd | null;
  /** One sentence for the reader of the result: which limit ended the run, and what to do. Null when none did. */
  readonly endMessage: string | null;
  readonly durationMs: number;
  /** Of the whole tree. Null where it could not be measured: a short run without a cgroup. */
  readonly cpuMs: number | null;
  readonly peakMemoryBytes: number | null;
  readonly output: RunOutput;
  readonly network: readonly NetworkUse[];
  /**
   * The changes of the whole stage. Null in other modes, and when there are more than `limits.newFiles`: then the run has
   * ended `write`, and nothing of it can be kept.
   */
  readonly staged: StagedChanges | null;
  readonly sandbox: SandboxKind;
  /** Remarks that the caller must see, such as that the run was not isolated. */
  readonly notes: readonly string[];
}

/** `none` runs commands unprotected. */
export const SANDBOX_KINDS = ['bubblewrap', 'seatbelt', 'none'] as const;
export type SandboxKind = (typeof SANDBOX_KINDS)[number];

/** The sandbox on this machine. `details` says how each limit is enforced, in a word or two. */
export interface SandboxStatus {
  readonly kind: SandboxKind;
  readonly isolated: boolean;
  readonly details: Readonly<Record<string, string>>;
  /** How runs are staged, and the folder in which their stages must be made; null with `none`, which stages nothing. */
  readonly stages: { readonly kind: 'overlay' | 'copy' | 'none'; readonly folder: string | null };
}

/**
 * Runs a process so that it cannot harm the host. Expected failure is a value: SANDBOX_UNAVAILABLE with the repair in
 * its message when it cannot isolate (never a silent fallback), INVALID_PATH for a folder it may not use, INVALID_INPUT
 * for a request that cannot run. A command that fails, times out or is cancelled is a result, not a failure. When `run`
 * has answered, every process of the run is gone.
 */
export interface Sandbox {
  readonly kind: SandboxKind;
  /** Tries it for real, once; later calls answer the same. */
  status(): Promise<Result<SandboxStatus>>;
  run(request: RunRequest): Promise<Result<RunResult>>;
  /** Looks into the files of a workspace ahead of its first run. Left out where no file is hidden. */
  prepare?(workspace: string): void;
  /**
   * Lists the changes of a stage without running a command, also while a run goes on in it. INVALID_INPUT where nothing is
   * staged; TOO_LARGE for more changes than a run may make by default.
   */
  compare(request: StageQuery): Promise<Result<StagedChanges>>;
  /**
   * Opens the view of a stage for this process, which may then read and write it while no staged run goes on in it. Begins a
   * new stage. INVALID_INPUT where nothing is staged.
   */
  open(request: StageQuery): Promise<Result<OpenView>>;
  /** Ends all runs and removes everything the sandbox put on the host. Later runs fail. */
  close(): Promise<void>;
}

export interface StageQuery {
  readonly workspace: string;
  readonly stage: StageFolder;
}

/** The workspace as a stage has it, as a folder that stays open and has no path of its own on the host. */
export interface OpenView {
  readonly fd: number;
  close(): void;
}
