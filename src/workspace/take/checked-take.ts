import type { Stats } from 'node:fs';
import type { Change } from '../../kernel/world/workspace.ts';
import type { ExactPath } from '../change/open-folders.ts';
import type { StagedSource } from './staged-source.ts';

export type TakeChange = Extract<Change, { kind: 'take' }>;

/** The place in the workspace to which a take comes. */
export interface TakenPlace {
  readonly path: string;
  /** Null when nothing is there, or will not be when the set's deletions are done. */
  readonly old: ExactPath | null;
  /** The folder nearest to it that is there and stays. */
  readonly above: string;
  /** Folders that this change makes, outermost first. */
  readonly made: readonly string[];
}

/** A take whose source in the stage is the one that was shown. */
export interface CheckedTake {
  readonly change: TakeChange;
  readonly staged: StagedSource;
}

/** A file that is about to be replaced. */
export interface ReplacedFile {
  readonly spot: ExactPath;
  readonly stat: Stats;
  readonly digest: string | null;
  readonly bytes: Buffer | null;
}
