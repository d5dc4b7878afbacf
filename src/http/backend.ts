import type { ApprovalRecord } from '../kernel/call/approval.ts';
import type { ApprovalAnswers } from '../kernel/call/approval-answers.ts';
import type { CallRecord } from '../kernel/call/call.ts';
import type { ExecutionContext } from '../kernel/call/execution-context.ts';
import type { Ledger, PathDecisionRecord, RuleRecord } from '../kernel/call/ledger.ts';
import type { ChangesBlock } from '../kernel/call/read-selection.ts';
import type { BlobStore, Logger } from '../kernel/ports.ts';
import type { Result } from '../kernel/result.ts';
import type { ChangesSelection, KeptChanges } from '../kernel/tool/kept-changes.ts';
import type { Stage } from '../kernel/world/stage.ts';
import type { World } from '../kernel/world/workspace.ts';
import type { LiveStreamEvent } from '../protocol/events.ts';
import type { GitStatusView, SecretTextView } from '../protocol/files.ts';
import type { ModeView } from '../protocol/health.ts';
import type { ModelChoice, ModelKeyChange, ModelsView } from '../protocol/models.ts';
import type { ToolExecutor } from '../runtime/executor.ts';
import type { ToolRegistry } from '../runtime/registry/registry.ts';

/** Changes of a command that wait to be kept or discarded. */
export interface PendingChange {
  readonly stage: Stage;
  /** The question about them; null where it is over and they were left, such as after a conflict. */
  readonly question: ApprovalRecord | null;
}

/**
 * Pending changes of one workspace. Decisions are recorded with `by`. An open question is answered as an approval is;
 * CONFLICT names the paths that changed in the workspace meanwhile.
 */
export interface PendingChanges {
  /** Oldest first, of all sessions, with what sessions collect. */
  list(): Promise<readonly PendingChange[]>;
  /** The changes as a person reads them, with diffs as far as there is room. */
  present(change: PendingChange): Promise<ChangesBlock>;
  keep(change: PendingChange, selection: ChangesSelection, by: string): Promise<Result<KeptChanges>>;
  /** The message goes to the model, if it still waits. */
  discard(change: PendingChange, by: string, message?: string): Promise<Result<KeptChanges>>;
  /** Whether the changes of a session are collected for one decision. */
  collects(session: string): boolean;
  /** Begins it; `onto` is the session in whose changes they are kept, or null for the workspace. */
  collect(session: string, onto: string | null, by: string): Promise<Result<void>>;
  /** Ends it. Returns the id of the changes, pending from now on, or null where there are none. */
  endCollecting(session: string): Promise<Result<string | null>>;
}

/** One workspace with its registry, executor, sandbox and journal. */
export interface WorkspaceBackend {
  /** Name used in events and URLs; it does not reveal where the folder is. */
  readonly id: string;
  readonly name: string;
  readonly sandbox: string;
  /** Why commands do not run in the sandbox, or run unprotected, and how to repair that. */
  sandboxTrouble(): string | undefined;
  readonly registry: ToolRegistry;
  readonly executor: ToolExecutor;
  readonly context: ExecutionContext;
  readonly world: Pick<World, 'files'>;
  /** Whether the journal of this workspace can undo changes of the call. */
  canUndo(callId: string): boolean;
  /** Undoes the changes of a call. The record names `by`. */
  undo(callId: string, by: string): Promise<Result<{ readonly restored: readonly string[] }>>;
  readonly changes: PendingChanges;
  /** Reads a text of the workspace for its owner, secrets included. The content goes to that person and nowhere else. */
  readForOwner(path: string): Result<Omit<SecretTextView, 'content'> & { readonly text: string }>;
  /** Status of the files in git; null where git cannot tell. */
  gitStatus(): Promise<Result<GitStatusView | null>>;
}

/** Runs an agent on a session. Fails with NOT_CONFIGURED where there is no model. */
export interface SessionRunner {
  /** The model in use and the models that can be chosen; never a key. */
  models(): ModelsView;
  /** Sets the model for runs that start from now on, until the process ends. The record names `by`. */
  choose(choice: ModelChoice, by: string): Promise<Result<void>>;
  saveKey(change: ModelKeyChange): Promise<Result<void>>;
  send(session: string, text: string, by: string): Promise<Result<void>>;
  stop(session: string): Promise<Result<void>>;
  /** Whether the demo can be played in this workspace, or why not. */
  mayPlayDemo(workspace: string): Result<void>;
  /** Plays the scripted demo in this session, with real tools. */
  demo(session: string, by: string): Promise<Result<void>>;
  running(session: string): boolean;
  /** Resumes runs that an ended process left open. */
  takeUp(): void;
  /** Leaves running runs open because the server stops; the next start resumes them. */
  pause(): void;
}

/** Rules and switches that an administrator changes. A change is in force when its promise resolves. */
export interface Settings {
  mode(): ModeView;
  /** Fails with CONFLICT where the configuration file of the workspace demands a stricter mode. */
  switchMode(mode: ModeView, by: string): Promise<Result<void>>;
  rules(): Promise<readonly (Omit<RuleRecord, 'id' | 'savedAt'> & { id: string | null; savedAt: number | null })[]>;
  /** Saves a rule for the workspace it names, or for all of them. */
  saveRule(
    rule: { rule: string; verdict: RuleRecord['verdict']; workspace?: string | undefined },
    by: string,
  ): Promise<Result<RuleRecord>>;
  removeRule(id: string, by: string): Promise<boolean>;
  pathDecisions(): Promise<readonly PathDecisionRecord[]>;
  /** Fails with INVALID_INPUT for a workspace that is not served here. */
  decidePath(
    decision: Pick<PathDecisionRecord, 'path' | 'kind'> & {
      readonly workspace?: string | undefined;
      readonly digest?: string | undefined;
    },
    by: string,
  ): Promise<Result<PathDecisionRecord>>;
  takePathBack(id: string, by: string): Promise<boolean>;
  switchTool(tool: string, enabled: boolean, by: string): Promise<Result<void>>;
}

/** Everything the routes need. The composition root provides it. */
export interface Backend {
  readonly version: string;
  readonly ledger: Ledger;
  /**
   * The records with secrets hidden, for people who only look. Approval questions come from the ledger, with the exact
   * arguments.
   */
  readonly recorded: Pick<Ledger, 'call' | 'approval' | 'approvals'>;
  readonly blobs: BlobStore;
  /** Returns the text with secrets hidden, as a record would hold it. */
  hideSecrets(text: string): string;
  /** At least one workspace; the first is the default. */
  readonly workspaces: ReadonlyMap<string, WorkspaceBackend>;
  readonly answers: ApprovalAnswers;
  readonly settings: Settings;
  readonly runner: SessionRunner;
  readonly log: Logger;
  /** MCP over HTTP, for tokens that may run tools; absent where it is not served. */
  readonly mcp?: {
    /** Returns undefined for an unknown workspace. Without a name it uses the default workspace. */
    handle(
      request: Request,
      who: { readonly id: string; readonly mayApprove: boolean },
      workspace: string | undefined,
    ): Promise<Response> | undefined;
  };
  /** Returns false when the call is over already. */
  cancel(call: CallRecord, by: string): Promise<boolean>;
  /** Reports progress and file changes as they happen; they are not recorded. Returns a function that unsubscribes. */
  onLive(listener: (event: LiveStreamEvent) => void): () => void;
}
