import type { ProcessMark } from '../../host/process-identity.ts';

/** The file at a path before a change. */
export interface Snapshot {
  /**
   * `link`: the old file itself, under another name. `copy`: its bytes. `tree`: the deleted file or folder, moved here whole.
   * `target`: it was a symbolic link, and `name` is where it led.
   */
  readonly by: 'link' | 'copy' | 'tree' | 'target';
  readonly name: string;
  /** Null when it was too large to hash. */
  readonly digest: string | null;
  readonly size: number;
  readonly mode: number;
  /** Older journals lack both. */
  readonly uid?: number;
  readonly gid?: number;
}

/** One change as the journal keeps it. Paths are real places relative to the workspace. */
export type RecordedChange =
  | {
      readonly kind: 'write';
      readonly path: string;
      /** The name beside it under which the new content was prepared. */
      readonly temp: string;
      readonly before: Snapshot | null;
      /** False when something stood there that could not be kept. */
      readonly undoable: boolean;
      /** Digest of the new content. */
      readonly after: string;
      readonly made: readonly string[];
    }
  | {
      readonly kind: 'delete';
      readonly path: string;
      readonly temp: string;
      readonly image: Snapshot | null;
      /** Of the deleted file, to tell it from a file that is put there later. Older journals lack both. */
      readonly inode?: number;
      readonly modifiedMs?: number;
    }
  | {
      readonly kind: 'move';
      readonly from: string;
      readonly to: string;
      readonly temp: string;
      readonly type: 'file' | 'directory' | 'symlink' | 'other';
      /** Of the moved file; a move to another file system changes it. */
      readonly inode: number;
      /** It went to another file system, by a copy. */
      readonly copied?: boolean;
      readonly digest: string | null;
      readonly replaced: Snapshot | null;
      /** False when something stood there that could not be kept. Older journals lack it. */
      readonly undoable?: boolean;
      readonly made: readonly string[];
    }
  | {
      readonly kind: 'take';
      readonly path: string;
      /** The path in the workspace under which a copy was prepared; null for a file or folder that was moved here itself. */
      readonly temp: string | null;
      /** Where it was in the stage: it goes back there when the set fails. */
      readonly from: string;
      readonly type: 'file' | 'directory' | 'symlink';
      readonly mode: number;
      /** Of what comes, which tells it from everything else that may stand at the path. */
      readonly inode: number;
      readonly modifiedMs: number;
      /** Of a file its content; of a folder `digestTree`; null for a symlink. */
      readonly digest: string | null;
      readonly replaced: Snapshot | null;
      readonly replacedInode: number | null;
      /** False when something stood there that could not be kept. */
      readonly undoable: boolean;
      readonly made: readonly string[];
    }
  | {
      readonly kind: 'mode';
      readonly path: string;
      readonly inode: number;
      readonly before: number;
      readonly after: number;
    };

export type RecordedTake = Extract<RecordedChange, { kind: 'take' }>;

/** Everything one step of a call changes: done as a whole, undone as a whole. */
export interface ChangeSet {
  readonly id: string;
  readonly callId: string;
  readonly session: string;
  /** The workspace's real path. */
  readonly root: string;
  readonly at: number;
  /** The process that makes the change. A set is unfinished only when that process is gone. */
  readonly owner: ProcessMark;
  readonly changes: readonly RecordedChange[];
  /** Only of a set without changes: a folder that is about to be made for one that is not known yet. */
  readonly making?: string;
  /** Only of a set without changes: copies that are about to be made for one that is not known yet. */
  readonly temps?: readonly string[];
  /** The pending changes that are kept by it. Older journals lack it. */
  readonly stage?: string;
  /** An undo of it was begun, so some of it may be taken back already. Not written with the set. */
  readonly undoing?: boolean;
}
