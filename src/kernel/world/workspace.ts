import type { Access } from '../tool/access.ts';
import type { Commands } from './commands.ts';
import type { Result } from '../result.ts';
import type { Web } from './web.ts';

/** `path` is always the real place in the workspace, relative to its root, whatever link or spelling led there. */
export interface FileInfo {
  readonly path: string;
  readonly type: 'file' | 'directory';
  readonly size: number;
  /** ISO 8601. */
  readonly modified: string;
}

/** What a call may know of a path before it runs. Reads no content, so it may be asked on every call. */
export interface Inspection {
  readonly path: string;
  /** Null when nothing is there. */
  readonly type: FileInfo['type'] | 'symlink' | 'other' | null;
  readonly size: number;
  /** ISO 8601; null when nothing is there. */
  readonly modified: string | null;
  /** Why a person must say yes to a change here, such as that git would run the file. */
  readonly protectedBecause: string | null;
  /** The session has read this file, and it was changed since by somebody else. */
  readonly stale: boolean;
}

export interface Entry {
  /** Relative to the listed folder. */
  readonly name: string;
  readonly type: FileInfo['type'] | 'symlink' | 'other';
  readonly size: number;
  readonly modified: string;
  /** Another one after every change, also where the time was put back. Only where it was asked for. */
  readonly state?: string;
}

export interface ListQuery {
  readonly recursive?: boolean;
  readonly includeHidden?: boolean;
  /** Most entries to return. */
  readonly limit: number;
  readonly withState?: boolean;
}

/** Sorted by name, folders before what is in them. `complete` is false when the limit cut it. */
export interface Listing {
  readonly path: string;
  readonly entries: readonly Entry[];
  readonly complete: boolean;
}

/** A text file as a whole. `text` is exact: written back unchanged it gives the same bytes. */
export interface TextFile extends FileInfo {
  readonly text: string;
  readonly encoding: string;
  /** The file starts with a byte order mark; `text` does not. */
  readonly bom: boolean;
  readonly mode: number;
  readonly version: string;
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

/** What is not text. `mimeType` is told from the first bytes. */
export interface BinaryFile extends FileInfo {
  readonly binary: true;
  readonly mimeType: string;
}

export interface FileBytes extends FileInfo {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  readonly version: string;
}

/** How a text is to be written. Left out: as the file that stands there, or UTF-8 for a new one. */
export interface TextForm {
  readonly encoding: string;
  readonly bom: boolean;
}

export type Change =
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly content: Uint8Array | { readonly text: string; readonly form?: TextForm };
      /** Checked on what is replaced, at the moment it is replaced. CONFLICT when it does not hold. */
      readonly expect?: 'absent' | { readonly version: string };
      /** Missing folders above are made. Left out: yes. */
      readonly createDirs?: boolean;
      /** Of a new file; one that stands there keeps its own. */
      readonly mode?: number;
    }
  | { readonly kind: 'delete'; readonly path: string; readonly recursive?: boolean }
  | { readonly kind: 'move'; readonly from: string; readonly to: string; readonly overwrite?: boolean };

/** What was done, in the order of the changes. */
export type Applied =
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly created: boolean;
      readonly size: number;
      readonly version: string;
      /** What stood there, for a diff; null when it was new, binary or large. */
      readonly before: string | null;
      /** The text as written, after the file's own line endings were kept; null for bytes. */
      readonly after: string | null;
      readonly note: string | null;
    }
  | {
      readonly kind: 'delete';
      readonly path: string;
      readonly deleted: readonly string[];
      /** False when no journal is configured, or what was deleted could not be kept. */
      readonly undoable: boolean;
    }
  | { readonly kind: 'move'; readonly from: string; readonly to: string; readonly replaced: boolean };

/**
 * The only way a tool reaches files. Every path is walked from the workspace root over open folders without following
 * a link out, so that what is checked is what is opened. Expected failures:
 *   INVALID_PATH       it leads outside, is malformed, or is neither a file nor a folder
 *   FILE_NOT_FOUND     nothing is there
 *   PERMISSION_DENIED  it is a sensitive file, Toolwright's own, or the system says no
 *   CONFLICT           it is not what the caller expects; nothing was changed
 *   TOO_LARGE          it does not fit the limits; the message says what does
 *   INVALID_INPUT      a text cannot be written in the file's encoding, or a file is not text
 *   NOT_CONFIGURED     there is no workspace
 */
export interface Files {
  inspect(path: string): Result<Inspection>;
  list(path: string, query: ListQuery): Promise<Result<Listing>>;
  readWindow(path: string, query: WindowQuery): Promise<Result<LineWindow | BinaryFile>>;
  readText(path: string): Promise<Result<TextFile>>;
  readBytes(path: string, maxBytes: number): Promise<Result<FileBytes>>;
  /** All or none. When it has answered with ok, every change is on the disk and in the journal. */
  apply(changes: readonly Change[]): Promise<Result<readonly Applied[]>>;
  /** Everything `apply` would check and answer, without changing anything. */
  rehearse(changes: readonly Change[]): Promise<Result<readonly Applied[]>>;
  /** Up to five paths of the workspace that a misspelt one may have meant: same name first. */
  suggest(path: string): Promise<readonly string[]>;
  /** A sensitive file of which a value stands in a text that is about to leave; null when none does. */
  secretIn(text: string): Promise<string | null>;
}

export interface GlobQuery {
  /** `**`, `*`, `?`, `[…]`, `{a,b}`; without a slash it matches names at any depth. */
  readonly pattern: string;
  readonly path: string;
  readonly includeHidden: boolean;
  /** Also what .gitignore leaves out. */
  readonly includeIgnored: boolean;
  readonly limit: number;
}

export interface GlobAnswer {
  /** Newest first, relative to the workspace. */
  readonly paths: readonly string[];
  readonly total: number;
  /** How many entries .gitignore left out, a folder counting as one; null when that was not counted. */
  readonly ignored: number | null;
  /** False when the time was over before everything was looked at. */
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
 * Search by name and by content. INVALID_INPUT for a pattern that is none; sensitive files are never searched, and of a
 * file that holds a private key not even a number is told.
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
  /** What was admitted. Null until then: nothing may be changed yet. */
  readonly admitted: readonly Access[] | null;
}

/** What tools may reach. Opened at most once a call, when its tool first reaches for it. */
export interface World {
  /** The folder it reaches, as an absolute real path. A call that works in another one is refused. */
  readonly root: string;
  open(caller: Caller): Reach;
}

/** A call's ways to the world. What is left out answers NOT_CONFIGURED. */
export interface Reach {
  readonly files: Files;
  readonly search: Search;
  readonly commands?: Commands;
  readonly web?: Web;
}
