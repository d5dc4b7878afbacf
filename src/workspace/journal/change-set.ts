import type { ProcessMark } from '../process-start.ts';

/** What stood somewhere before a change. */
export interface Image {
  /**
   * `link`: the old file itself, under another name. `copy`: its bytes. `tree`: what was deleted, moved here whole.
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
export type Recorded =
  | {
      readonly kind: 'write';
      readonly path: string;
      /** The name beside it under which the new content was prepared. */
      readonly temp: string;
      readonly before: Image | null;
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
      readonly image: Image | null;
      /** Of what is deleted, to tell it from what somebody puts there afterwards. Older journals lack both. */
      readonly inode?: number;
      readonly modifiedMs?: number;
    }
  | {
      readonly kind: 'move';
      readonly from: string;
      readonly to: string;
      readonly temp: string;
      readonly type: 'file' | 'directory' | 'symlink' | 'other';
      /** Of what was moved; it is the same afterwards unless another file system was reached. */
      readonly inode: number;
      /** It went to another file system, by a copy. */
      readonly copied?: boolean;
      readonly digest: string | null;
      readonly replaced: Image | null;
      /** False when something stood there that could not be kept. Older journals lack it. */
      readonly undoable?: boolean;
      readonly made: readonly string[];
    };

/** Everything one step of a call changes: done as a whole, undone as a whole. */
export interface ChangeSet {
  readonly id: string;
  readonly callId: string;
  readonly session: string;
  /** The workspace's real path. */
  readonly root: string;
  readonly at: number;
  /** Who makes the change; whoever finds it unfinished looks whether that process still lives. */
  readonly owner: ProcessMark;
  readonly changes: readonly Recorded[];
  /** Only of a set without changes: a folder that is about to be made for one that is not known yet. */
  readonly making?: string;
  /** An undo of it was begun, so some of it may be taken back already. Not written with the set. */
  readonly undoing?: boolean;
}
