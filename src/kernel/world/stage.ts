import type { Result } from '../result.ts';

/**
 * A stage is a private view of the workspace in which a command runs: it reads the real files, its writes go to a layer of
 * their own, and what it changed is listed exactly when it has ended. Nothing reaches the workspace until the changes are
 * kept. People read "pending changes", "keep" and "discard"; "stage" is a word of the code.
 */

/** One path at one moment. */
export interface PathVersion {
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
  /** Permission bits, set-id and sticky bits included. */
  readonly mode: number;
  readonly size: number;
  /**
   * Of a file: the version that file tools use, or its size and time if it is huge (`timesVersion`). Of a symlink: where it leads. Of a
   * deleted folder, and of the outermost of new folders: `digestTree` of all that is in it. Null otherwise.
   */
  readonly version: string | null;
}

/** One path that a staged run left different from the workspace. */
export interface StagedChange {
  /** Relative to the workspace. With `unnameable` only nearly right: the name is no valid text. */
  readonly path: string;
  /** `mode`: only its permissions differ. A path that became another kind of thing is one `deleted` and one `created`. */
  readonly kind: 'created' | 'modified' | 'deleted' | 'mode';
  /** In the workspace, or in the stage below, when the changes were listed. */
  readonly before: PathVersion | null;
  readonly after: PathVersion | null;
  /** Of a deleted folder: the entries below it, and their bytes. A created folder has one change for each entry. */
  readonly entries?: number;
  readonly bytes?: number;
  /** The workspace's own file, or something in the folder, changed while the run went on. */
  readonly overtaken?: true;
  readonly unnameable?: true;
  /** It is hidden from commands, by its name or its content: the run saw a mask. */
  readonly masked?: true;
}

/** Where the writes of staged runs go. */
export interface StageFolder {
  /**
   * Absolute private folder that the caller made directly in the folder that `SandboxStatus.stages` names. Empty at first; a
   * later run may continue in it, never two at once.
   */
  readonly folder: string;
  /** The folders of stages that this one stands on, nearest first: the run sees their changes, which are not its own. */
  readonly below?: readonly string[];
  /**
   * The run sees edits of the host while it goes on, with events, and can write everywhere; a file that it has changed stays as it
   * left it. A file whose name must be hidden never appears in it. For a new stage that stands on no other one.
   */
  readonly followsHost?: true;
}

/** All changes of a stage, in the order of their paths, a folder before its entries. */
export interface StagedChanges {
  readonly changes: readonly StagedChange[];
  /** The folder of the host with the new content of created and modified paths, by the same relative paths. */
  readonly content: string;
}

/**
 * The kind of a change, by what keeping it can do.
 *   ignored     git ignores it and does not track it
 *   new         a new ordinary file
 *   ordinary    an existing file changed, was deleted or has another mode
 *   packages    in a folder of installed packages, such as node_modules, or vendor where a package manager fills it
 *   repository  git's own data, without what git obeys
 *   protected   the host would run or obey it: hooks, configuration of git, editor tasks
 *   sensitive   it is hidden from commands as a secret: never kept
 *   special     a device, socket or pipe, set-id bits, no right to read it, a name that is no text, more than 1 GB, Toolwright's own:
 *               never kept
 */
export const CHANGE_CLASSES = [
  'ignored',
  'new',
  'ordinary',
  'packages',
  'repository',
  'protected',
  'sensitive',
  'special',
] as const;
export type ChangeClass = (typeof CHANGE_CLASSES)[number];

export interface ClassifiedChange extends StagedChange {
  readonly class: ChangeClass;
  /** For a person: why it is protected, sensitive or special, or what is lost by it. */
  readonly reason?: string;
  /**
   * Keeping it takes away what nothing else has: a repository, its commits or objects, or text that is in no commit and that this
   * session did not write.
   */
  readonly loses?: true;
}

/** Pending changes of one call. Contract: plain files in the state directory, so that they survive a restart. */
export interface Stage {
  readonly id: string;
  readonly workspace: string;
  readonly session: string;
  /** The call that made the changes; an undo of that call takes them back. */
  readonly callId: string;
  /** Its command, for a person. */
  readonly title: string;
  readonly createdAt: number;
  /** The run was stopped, timed out or cancelled: only ignored files are kept. */
  readonly isPartial: boolean;
  /** The text of the allow rule by which the command ran, or null: such a rule also keeps its ordinary changes. */
  readonly allowedBy: string | null;
  readonly changes: readonly ClassifiedChange[];
  /** Changes of branches and commits in words, such as "main: 1 commit, Fix login". */
  readonly repository: readonly string[];
  /** Hash of all changes with their versions: what was shown is what is kept. */
  readonly digest: string;
  /** The session whose own stage these changes stand on and are kept in. Null: the workspace. */
  readonly standsOn: string | null;
  /** They are all that a session collected over several calls. */
  readonly isOfSession?: true;
  /** The session still works on them; they have to be ended before they can be kept. */
  readonly isCollecting?: true;
  /** The changes that were kept last while these were pending, with the paths that both have changed. */
  readonly overtakenBy?: { readonly title: string; readonly paths: readonly string[] };
  /**
   * The content of a file. Null for a side on which there is none. TOO_LARGE, INVALID_INPUT for what is no file, CONFLICT for
   * new content that is no longer the one of the list.
   */
  read(path: string, side: 'before' | 'after', maxBytes: number): Promise<Result<Uint8Array | null>>;
  /** Absolute path of the new content of a created or modified path. */
  contentOf(path: string): string;
  discard(): Promise<void>;
  /** Removes it after these paths were kept, and tells other pending changes of the same paths. */
  kept(paths: readonly string[]): Promise<void>;
}

export interface Stages {
  /** FILE_NOT_FOUND for one that was kept, discarded or never was; PERMISSION_DENIED for one of another session. */
  find(id: string, owner: { readonly session: string; readonly workspace: string }): Promise<Result<Stage>>;
  /** Oldest first. */
  list(query: { readonly session?: string; readonly workspace?: string }): Promise<readonly Stage[]>;
}

/** The call whose run makes the changes. */
export interface StageOwner {
  readonly workspace: string;
  readonly session: string;
  readonly callId: string;
  /** Its command, for a person. */
  readonly title: string;
  readonly allowedBy: string | null;
  /** Whether the session wrote this version of a file itself, so that its loss is none to the user. */
  wrote(path: string, version: string): boolean;
  /** The session stage on which the run works. Left out: the workspace. */
  readonly standsOn?: SessionStage | undefined;
}

/** A stage while its run goes on. */
export interface OpenStage {
  readonly folder: StageFolder;
  /** Lists the changes for good. Null when there are none: then the stage is gone. */
  finish(staged: StagedChanges, end: { readonly isPartial: boolean }): Promise<Result<Stage | null>>;
  discard(): Promise<void>;
}

/** Stages of this machine. Contract: a stage whose process ended before `finish` is discarded. */
export interface StageStore extends Stages {
  /** TOO_LARGE when too many are pending; NOT_CONFIGURED or SANDBOX_UNAVAILABLE where there can be none. */
  begin(owner: StageOwner): Promise<Result<OpenStage>>;
}

/** A session that is to keep one stage over several calls. */
export interface SessionStageOwner {
  readonly workspace: string;
  readonly session: string;
  /** The session on whose stage this one stands: its changes are kept there. Null: in the workspace. */
  readonly onto: string | null;
  /** Undo of this call takes the kept changes back. */
  readonly callId: string;
}

/**
 * The stage of a session: its file tools and commands see it and write to it, over several calls, until all of it is decided
 * about. Contract: plain files in the state directory; after a restart the session goes on in it.
 */
export interface SessionStage extends SessionStageOwner {
  readonly id: string;
  readonly createdAt: number;
  /** Its folder and those that it stands on. */
  readonly folder: StageFolder;
  /** The open view, once it was prepared; another one when it was mounted anew. */
  fd(): number;
  /** The path of the open view, in this process alone. */
  path(): string;
  /**
   * Mounts the view, anew where the host may have changed files since. CONFLICT when another process has the stage or its
   * changes are being decided about.
   */
  prepare(): Promise<Result<void>>;
  /** Runs work that needs the view; it is not mounted anew meanwhile. CONFLICT when the stage has ended. */
  use<T>(work: () => Promise<Result<T>>): Promise<Result<T>>;
  /** Notes paths that are about to be changed, so that later changes of the host to them are recognised. */
  note(paths: readonly string[]): Result<void>;
  /** Keeps it from ending while the stage of a run stands on it. Returns the function to call when that stage is finished or gone. */
  hold(title: string): () => void;
}

/** Stages of sessions on this machine. */
export interface SessionStages {
  /**
   * CONFLICT when the session has a stage, FILE_NOT_FOUND when `onto` has none; NOT_CONFIGURED or SANDBOX_UNAVAILABLE where
   * nothing is staged.
   */
  begin(owner: SessionStageOwner): Promise<Result<SessionStage>>;
  of(workspace: string, session: string): SessionStage | undefined;
  /** Learns of stages that other processes began or ended. */
  refresh(): void;
  list(workspace: string): readonly SessionStage[];
  /** The changes so far. Null when there are none. */
  review(stage: SessionStage): Promise<Result<Stage | null>>;
  /**
   * Ends it: its changes are pending from now on, under the same id. Returns false when there are none. CONFLICT while other
   * stages stand on it.
   */
  end(stage: SessionStage): Promise<Result<boolean>>;
  /** Ends it like `end`, and begins a new one of the same session at once; undo of `callId` takes back what is kept of that. */
  renew(stage: SessionStage, callId: string): Promise<Result<boolean>>;
  /** Closes all views; another process may go on. */
  close(): void;
}
