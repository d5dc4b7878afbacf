/** The name of the tool that keeps changes. Doors show its calls as a part of the command that made the changes. */
export const KEEPING_TOOL = 'apply_changes';

/** The part of the pending changes that a person keeps, as arguments of the tool that keeps them. Left out: all. */
export interface ChangesSelection {
  /** A folder stands for everything in it. */
  readonly paths?: readonly string[] | undefined;
  /** Numbers of the hunks of a file's diff, from 1. */
  readonly hunks?: Readonly<Record<string, readonly number[]>> | undefined;
  /** Texts to keep instead of those that the command wrote. */
  readonly texts?: Readonly<Record<string, string>> | undefined;
}

/** The outcome of a command's changes, for its report. Lists are bounded; `total` counts all paths that were kept. */
export interface KeptChanges {
  readonly state: 'kept' | 'partly kept' | 'discarded' | 'nothing changed';
  readonly created: readonly string[];
  readonly modified: readonly string[];
  readonly deleted: readonly string[];
  readonly total: number;
  /** Why some or all of them were not kept. */
  readonly reason: string | null;
}
