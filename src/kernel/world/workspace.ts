import type { Result } from '../result.ts';
import type { Access } from '../tool/access.ts';
import type { Commands } from './commands.ts';
import type { StageFolder, Stages } from './stage.ts';
import type { UnagreedTexts } from './unagreed-texts.ts';
import type { Web } from './web.ts';

/** `path` is always the resolved path, relative to the workspace root, whatever symlink or spelling led there. */
export interface FileInfo {
  readonly path: string;
  readonly type: 'file' | 'directory';
  readonly size: number;
  /** ISO 8601. */
  readonly modified: string;
}

/** Facts about a path that a call may use before it runs. No content is read for them, so every call may ask. */
export interface Inspection {
  readonly path: string;
  /** Null when nothing is there. */
  readonly type: FileInfo['type'] | 'symlink' | 'other' | null;
  /** Why a change here needs approval, such as that git would run the file. */
  readonly protectedBecause: string | null;
}

export interface ListedEntry {
  /** Relative to the listed folder. */
  readonly name: string;
  readonly type: FileInfo['type'] | 'symlink' | 'other';
  readonly size: number;
  readonly modified: string;
  /** Changes with every change of the file, also where its time was set back. Only on request. */
  readonly state?: string;
}

export interface ListQuery {
  readonly recursive?: boolean;
  readonly includeHidden?: boolean;
  /** Most entries to return. */
  readonly limit: number;
  readonly withState?: boolean;
}

/** Sorted by name, folders before their content. `complete` is false when the limit cut it. */
export interface Listing {
  readonly path: string;
  readonly entries: readonly ListedEntry[];
  readonly complete: boolean;
}

/** Content of a file with its hash: of the same bytes, read again, all of it is known. */
export interface KnownContent {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

/** A text file as a whole. `text` is exact: written back unchanged it gives the same bytes. */
export interface TextFile extends FileInfo {
  readonly text: string;
  readonly encoding: string;
  /** The file starts with a byte order mark; `text` does not. */
  readonly bom: boolean;
  readonly mode: number;
  readonly version: string;
  readonly content: KnownContent;
}

export interface WindowQuery {
  /** First line, counted from 1; negative counts from the end. */
  readonly offset: number;
  readonly limit: number;
  readonly maxBytes: number;
  /** Longer lines are cut, and say so. */
  readonly maxLineChars: number;
  /** Also the version of a file above 16 MB, for which all of it is read. */
  readonly withVersion?: boolean;
}

/** Some lines of a text file. Reading a window of a huge file costs no more memory than the window. */
export interface LineWindow extends FileInfo {
  /** The lines as they are, endings included; cut only where a line is longer than asked for. */
  readonly content: string;
  /** Number of the first line; negative, counted from the end, when the file is too large to count. */
  readonly first: number;
  readonly lines: number;
  /** Null when the file is too large to count. */
  readonly totalLines: number | null;
  readonly more: boolean;
  readonly cutLines: number;
  readonly encoding: string;
  /** Null above 16 MB, where hashing would cost more than reading, unless it was asked for. */
  readonly version: string | null;
}

/** A file that is not text. `mimeType` is detected from the first bytes. */
export interface BinaryFile extends FileInfo {
  readonly binary: true;
  readonly mimeType: string;
}

export interface FileBytes extends FileInfo {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  readonly version: string;
}

/** The form in which text is written. Left out: that of the existing file, or UTF-8 for a new one. */
export interface TextForm {
  readonly encoding: string;
  readonly bom: boolean;
}

export type Change =
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly content: Uint8Array | { readonly text: string; readonly form?: TextForm };
      /** Checked on the replaced file, at the moment it is replaced. CONFLICT when it does not hold. */
      readonly expect?: 'absent' | { readonly version: string };
      /** The content that the change was planned on, to be compared by its bytes: to hash it again takes ten times as long. */
      readonly basis?: KnownContent;
      /** Whether missing folders above are created. Left out: yes. */
      readonly createDirs?: boolean;
      /** Of a new file; an existing file keeps its own. */
      readonly mode?: number;
    }
  | {
      readonly kind: 'delete';
      readonly path: string;
      readonly recursive?: boolean;
      /** Of a file its version, of a symlink its target, of a folder `digestTree` of it. The path must lead there itself. */
      readonly expect?: { readonly version: string };
    }
  | { readonly kind: 'move'; readonly from: string; readonly to: string; readonly overwrite?: boolean }
  /**
   * Brings in a file, a symlink or a folder with everything below it from a stage. A new one is moved out of the stage;
   * of a changed file the content is copied, and its owner stays. Set-id bits never come in.
   */
  | {
      readonly kind: 'take';
      readonly path: string;
      /** Absolute, on the host. Its folder must be out of reach for other users. */
      readonly from: string;
      /** Of a file its version, of a symlink its target. A path that the same set deletes is `absent`. */
      readonly expect: 'absent' | { readonly version: string };
      /** Of what comes, by the same rules and `digestTree` for a folder. Null: it is not compared. */
      readonly content: { readonly version: string | null };
      /** Permission bits. Left out: those in the stage. */
      readonly mode?: number;
    }
  /** Permissions alone, of a file or folder. Null stands for a version that is not compared. */
  | {
      readonly kind: 'mode';
      readonly path: string;
      readonly mode: number;
      readonly expect: { readonly version: string | null; readonly mode?: number };
    };

/** One change after it was applied; in the order of the changes. */
export type AppliedChange =
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly created: boolean;
      readonly size: number;
      readonly version: string;
      /** The text before, for a diff; null when the file was new, binary or large. */
      readonly before: string | null;
      /** The text as written, after the file's own line endings were kept; null for bytes. */
      readonly after: string | null;
      readonly note: string | null;
    }
  | {
      readonly kind: 'delete';
      readonly path: string;
      readonly deleted: readonly string[];
      /** False when no journal is configured, or the deleted files could not be kept. */
      readonly undoable: boolean;
    }
  | {
      readonly kind: 'move';
      readonly from: string;
      readonly to: string;
      readonly replaced: boolean;
    }
  | {
      readonly kind: 'take';
      readonly path: string;
      readonly type: 'file' | 'directory' | 'symlink';
      /** False when it replaced one. */
      readonly created: boolean;
      /** False when no journal is configured, or the replaced file could not be kept. */
      readonly undoable: boolean;
    }
  | {
      readonly kind: 'mode';
      readonly path: string;
      readonly mode: number;
      readonly undoable: boolean;
    };

/**
 * The paths that a rehearsed change touches, by their real path: the version of the file, the digest of the tree or the
 * target of the symlink that is there now, or `absent`.
 */
export type RehearsedVersions = Readonly<Record<string, string>>;

/** Where a path of a change led when its call was planned. `apply` answers CONFLICT when it leads elsewhere by then. */
export interface PlannedPlace {
  /** The path as the change names it. */
  readonly given: string;
  /** The real path. Of a path that may be written or deleted: that of its file, then its own where it is a symlink. */
  readonly paths: readonly string[];
  /** Why a change there needs approval. */
  readonly protectedBecause: string | null;
}

/** The effect that one change would have. */
export interface RehearsedChange {
  readonly applied: AppliedChange;
  readonly versions: RehearsedVersions;
  readonly places: readonly PlannedPlace[];
  /** The content of the file that it would replace; undefined for none, and for a large one. */
  readonly basis: KnownContent | undefined;
}

/** How a set of changes is applied. */
export interface ApplyOptions {
  /** The call whose undo takes the changes back. Left out: the caller's own. */
  readonly callId?: string;
  /** The session in whose stage they are made, or null for the workspace. Left out: where the caller's session works. */
  readonly onto?: string | null;
  /** The pending changes that are kept by them: with a journal it is known after a crash, too. */
  readonly stage?: string;
}

/**
 * The only way a tool reaches files. Every path is walked from the workspace root over open folders without following
 * a symlink out, so that the file that is checked is the file that is opened. Expected failures:
 *   INVALID_PATH       it leads outside, is malformed, or is neither a file nor a folder
 *   FILE_NOT_FOUND     it does not exist
 *   PERMISSION_DENIED  it is a sensitive file, Toolwright's own, or the system says no
 *   CONFLICT           it differs from what the caller expects; nothing was changed
 *   TOO_LARGE          it exceeds the limits; the message names them
 *   INVALID_INPUT      a text cannot be written in the file's encoding, or a file is not text
 *   NOT_CONFIGURED     there is no workspace
 */
export interface Files {
  /** `keep` inspects a symlink itself. Left out: it is followed. */
  inspect(path: string, last?: 'follow' | 'keep'): Result<Inspection>;
  list(path: string, query: ListQuery): Promise<Result<Listing>>;
  readWindow(path: string, query: WindowQuery): Promise<Result<LineWindow | BinaryFile>>;
  readText(path: string): Promise<Result<TextFile>>;
  readBytes(path: string, maxBytes: number): Promise<Result<FileBytes>>;
  /**
   * Applies all changes or none. When it has answered with ok, every change is on the disk and in the journal. A set with
   * changes of a stage is put into a safe order of its own, and its CONFLICT lists every path that differs
   * (`details.paths`).
   */
  apply(changes: readonly Change[], options?: ApplyOptions): Promise<Result<readonly AppliedChange[]>>;
  /** Checks like `apply` and answers what it would do, without changing anything. */
  rehearse(changes: readonly Change[]): Promise<Result<readonly RehearsedChange[]>>;
  /** Up to five paths of the workspace that a misspelt one may have meant: same name first. */
  suggest(path: string): Promise<readonly string[]>;
  /** A sensitive file of which a value appears in a text that is about to leave the machine; null when there is none. */
  secretIn(text: string): Promise<string | null>;
}

export interface GlobQuery {
  /** `**`, `*`, `?`, `[…]`, `{a,b}`; without a slash it matches names at any depth. */
  readonly pattern: string;
  readonly path: string;
  readonly includeHidden: boolean;
  /** Also files that .gitignore excludes. */
  readonly includeIgnored: boolean;
  readonly limit: number;
}

export interface GlobAnswer {
  /** Newest first, relative to the workspace. */
  readonly paths: readonly string[];
  readonly total: number;
  /** How many entries .gitignore excluded, a folder counting as one; null when they were not counted. */
  readonly ignored: number | null;
  /** False when the search timed out. */
  readonly complete: boolean;
}

export interface GrepQuery {
  readonly pattern: string;
  readonly path: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly output: 'content' | 'files' | 'count';
  /** Lines shown around a match. */
  readonly before: number;
  readonly after: number;
  readonly caseSensitive: boolean | 'smart';
  readonly literal: boolean;
  readonly multiline: boolean;
  readonly includeHidden: boolean;
  readonly includeIgnored: boolean;
  readonly limit: number;
}

export interface GrepLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** False for a line that only surrounds a match. */
  readonly match: boolean;
}

export interface GrepAnswer {
  /** In content mode: matches and their surroundings, newest file first. */
  readonly lines: readonly GrepLine[];
  /** Matching files with the number of matching lines, newest first, cut to the limit in the other modes. */
  readonly files: readonly { readonly path: string; readonly count: number }[];
  readonly totalMatches: number;
  readonly totalFiles: number;
  readonly ignored: number | null;
  readonly complete: boolean;
}

/**
 * Search by name and by content. INVALID_INPUT for an invalid pattern. Sensitive files are never searched, and of a file
 * that holds a private key not even the number of matches is told.
 */
export interface Search {
  glob(query: GlobQuery): Promise<Result<GlobAnswer>>;
  grep(query: GrepQuery): Promise<Result<GrepAnswer>>;
}

/** The call on whose behalf the world is reached. */
export interface Caller {
  readonly callId: string;
  readonly session: string;
  readonly workingDir: string;
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** The admitted access. Null until admission: nothing may be changed yet. */
  readonly admitted: readonly Access[] | null;
  /** Where the paths of its changes led when it was judged. A path that is not among them is not compared. */
  readonly places?: readonly PlannedPlace[] | undefined;
  /** The paths whose change a person was shown as a whole and agreed to. */
  readonly agreedPaths?: readonly string[] | undefined;
}

/** The world that tools may reach. Each part is opened at most once a call, when its tool first uses it. */
export interface World {
  /** The workspace root, as an absolute resolved path. A call that works in another folder is refused. */
  readonly root: string;
  files(caller: Caller): Files;
  search(caller: Caller): Search;
  /** Left out: commands answer NOT_CONFIGURED. */
  commands?(caller: Caller): Commands;
  /**
   * The values of sensitive files, each with its file, to hide in what commands print: of files that are sensitive by their names, and of
   * `hidden` ones, whatever made them so. Left out: not known.
   */
  secretValues?(hidden?: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Whether a session wrote this version of a file through file tools or kept changes. Left out: not known. */
  wrote?(session: string, path: string, version: string): boolean;
  /** Pending changes of commands. Left out: there are none. */
  stages?(caller: Caller): Stages;
  /** The paths that were changed when these pending changes were kept; empty when they were not. Left out: not known. */
  keptPaths?(stage: string): readonly string[];
  /** Left out: the web answers NOT_CONFIGURED. */
  web?(caller: Caller): Web;
  /** Files and search over a view of this workspace. Writes there are not journalled. Left out: there are no views. */
  over?(view: WorkspaceView): Pick<World, 'files' | 'search' | 'unagreed'>;
  /** The texts of calls that nobody has agreed to, as a session sees the workspace. Left out: not known. */
  unagreed?(session: string): Promise<UnagreedTexts>;
  /** Whether the changes of a session are collected in a stage of its own. Left out: no session's are. */
  collects?(session: string): boolean;
  /** Called before a call is planned. Undefined when there is nothing to prepare. */
  prepare?(session: string): Promise<Result<void>> | undefined;
}

/** The workspace as a stage has it. */
export interface WorkspaceView {
  /** The open folder of the view; another one when it was mounted anew. */
  fd(): number;
  readonly stage: StageFolder;
}
