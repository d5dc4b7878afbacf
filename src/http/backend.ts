import type { Answers } from '../kernel/call/approval-answers.ts';
import type { CallRecord } from '../kernel/call/call.ts';
import type { ExecutionContext } from '../kernel/call/execution-context.ts';
import type { Ledger, RuleRecord } from '../kernel/call/ledger.ts';
import type { BlobStore, Logger } from '../kernel/ports.ts';
import type { Result } from '../kernel/result.ts';
import type { Caller, Reach } from '../kernel/world/workspace.ts';
import type { LiveStreamEvent } from '../protocol/events.ts';
import type { GitStatusView } from '../protocol/files.ts';
import type { ModeView } from '../protocol/health.ts';
import type { ModelChoice, ModelKeyChange, ModelsView } from '../protocol/models.ts';
import type { ToolExecutor } from '../runtime/executor.ts';
import type { ToolRegistry } from '../runtime/registry/registry.ts';

/** One folder that is worked in, with all that belongs to it. */
export interface WorkspaceBackend {
  /** A name that holds in events and URLs; says nothing of where the folder is. */
  readonly id: string;
  readonly name: string;
  readonly sandbox: string;
  /** Why commands do not run in it, or run unprotected, and what to do. */
  sandboxTrouble(): string | undefined;
  readonly registry: ToolRegistry;
  readonly executor: ToolExecutor;
  readonly context: ExecutionContext;
  readonly world: { open(caller: Caller): Reach };
  /** Whether it knows changes of this call that can be taken back. */
  canUndo(callId: string): boolean;
  /** Recorded with who does it. */
  undo(callId: string, by: string): Promise<Result<{ readonly restored: readonly string[] }>>;
  /** How the files stand to git; null where nobody can tell. */
  gitStatus(): Promise<Result<GitStatusView | null>>;
}

/** What drives an agent on a session. NOT_CONFIGURED where there is no model. */
export interface SessionRunner {
  /** The one in use, and which could be; never a key. */
  models(): ModelsView;
  /** For runs that start from now on, until the process ends. Recorded with who chose. */
  choose(choice: ModelChoice, by: string): Promise<Result<void>>;
  saveKey(change: ModelKeyChange): Promise<Result<void>>;
  send(session: string, text: string, by: string): Promise<Result<void>>;
  stop(session: string): Promise<Result<void>>;
  /** Whether the demo can be played in this workspace, or why not. */
  mayPlayDemo(workspace: string): Result<void>;
  /** Plays the scripted demo in this session, with real tools. */
  demo(session: string, by: string): Promise<Result<void>>;
  running(session: string): boolean;
  /** Goes on with runs that an ended process left open. */
  takeUp(): void;
  /** The server stops: runs are left open, to be taken up at the next start. */
  pause(): void;
}

/** Rules and switches: what an admin changes. In force when the promise is kept. */
export interface Settings {
  mode(): ModeView;
  /** CONFLICT where the workspace's own file keeps it tighter. */
  switchMode(mode: ModeView, by: string): Promise<Result<void>>;
  rules(): Promise<readonly (Omit<RuleRecord, 'id' | 'savedAt'> & { id: string | null; savedAt: number | null })[]>;
  /** It holds in the workspace it names, or in all. */
  saveRule(
    rule: { rule: string; verdict: RuleRecord['verdict']; workspace?: string | undefined },
    by: string,
  ): Promise<Result<RuleRecord>>;
  removeRule(id: string, by: string): Promise<boolean>;
  switchTool(tool: string, enabled: boolean, by: string): Promise<Result<void>>;
}

/** Everything the routes need. The composition root hands it in. */
export interface Backend {
  readonly version: string;
  readonly ledger: Ledger;
  /** What the records say, secrets hidden: for whoever looks. Questions are put by the ledger, with what will run. */
  readonly recorded: Pick<Ledger, 'call' | 'approval' | 'approvals'>;
  readonly blobs: BlobStore;
  /** A text as a record would have it. */
  hideSecrets(text: string): string;
  /** At least one; the first is the default. */
  readonly workspaces: ReadonlyMap<string, WorkspaceBackend>;
  readonly answers: Answers;
  readonly settings: Settings;
  readonly runner: SessionRunner;
  readonly log: Logger;
  /** MCP over HTTP, for whoever may run tools; absent where it is not served. */
  readonly mcp?: {
    /** Undefined for a workspace that is not here; the default one when none is named. */
    handle(
      request: Request,
      who: { readonly id: string; readonly mayApprove: boolean },
      workspace: string | undefined,
    ): Promise<Response> | undefined;
  };
  /** False when the call is over already. */
  cancel(call: CallRecord, by: string): Promise<boolean>;
  /** Progress and changes of files as they happen; they are not recorded. Returns how to stop. */
  onLive(listener: (event: LiveStreamEvent) => void): () => void;
}
