import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import type { ResolvedPath } from '../../host/walk-path.ts';
import type { Result } from '../../kernel/result.ts';
import type { AppliedChange, KnownContent, PlannedPlace, RehearsedVersions } from '../../kernel/world/workspace.ts';
import type { SecretHardLinks } from '../../secrets/secret-hard-links.ts';
import type { SecretValues } from '../../secrets/secret-values.ts';
import type { AgentFiles } from '../authorship/agent-files.ts';
import type { RecordedChange } from '../journal/change-set.ts';
import type { Journal } from '../journal/journal.ts';
import type { SeenVersions } from '../read/file-content.ts';
import type { ChangeAuthors } from '../watch/change-author.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import type { OpenFolders } from './open-folders.ts';
import type { SetSync } from './sync-set.ts';

/** Everything that changing files needs. */
export interface Writer {
  readonly root: WorkspaceRoot;
  readonly secrets: SecretHardLinks;
  readonly values: SecretValues;
  readonly journal: Journal | undefined;
  readonly seen: SeenVersions;
  readonly session: string;
  readonly authors: ChangeAuthors;
  /** The paths that calls put files at, for as long as the workspace is known. */
  readonly agentFiles: AgentFiles;
  /** The paths, as the changes name them, to whose new text a person has agreed. */
  readonly agreedPaths?: readonly string[];
  /** Checks only: no folder is made, nothing is kept. */
  readonly rehearsal?: boolean;
  /** Called before a folder is made for a change. Throws what the system throws; then it is not made. */
  aboutToMake?(path: string): void;
  /** Where the call was planned to change files, by the path as the change names it. */
  readonly planned?: ReadonlyMap<string, PlannedPlace>;
}

/** All changes of one set have this in common. */
export interface SetScope {
  readonly folders: OpenFolders;
  readonly sync: SetSync;
  /** Paths that the set deletes. */
  readonly deleted: ReadonlySet<string>;
  /** Those among them at which, or below which, something new comes. */
  readonly swapped: ReadonlySet<string>;
  /** Folders that changes of the set make, so that each is made once. */
  readonly made: Set<string>;
  /** Files that are changed or deleted, to be looked through for hard links to sensitive ones all at once. */
  readonly touched: { readonly path: string; readonly stat: Stats }[];
  /** `all`: a rename turned out to be impossible between folders of one file system, as with a bind mount. */
  readonly copies: 'across' | 'all';
}

/** A path after all symlinks, and those that led there. */
export type RealPlace = Pick<ResolvedPath, 'path' | 'via'>;

/** The order in which a set with changes of a stage is performed. */
export const PHASES = ['swap', 'open', 'new', 'changed', 'mode', 'delete', 'close'] as const;
export type ChangePhase = (typeof PHASES)[number];

/** A change that was looked up and checked, with everything open that it needs. Nothing has changed yet. */
export interface PreparedChange {
  /** The real places it touches, in the order in which the change names them. */
  readonly places: readonly RealPlace[];
  readonly applied: AppliedChange;
  /** Only in a rehearsal. */
  readonly versions?: RehearsedVersions;
  /** The content of the file that it replaces. */
  readonly basis?: KnownContent | null;
  /** `obeyedDigest` of the file that it replaces; undefined where that is not known. Left out: it replaces none. */
  before?(): string | undefined;
  /** Complete when `makeReady` is done. */
  readonly recorded: RecordedChange;
  readonly phase: ChangePhase;
  /** The path of a copy that `makeReady` makes in the workspace. */
  readonly temp?: string;
  /** Does what may fail or take long and is not seen yet, such as a copy beside the file. */
  makeReady?(): Promise<Result<void>>;
  /** Does it. A failure means that this change did nothing. */
  perform(): Promise<Result<void>>;
  /** Closes what is open; with `failed`, also removes what preparing made. */
  dispose(how: 'done' | 'failed'): void;
}

/** A name beside the file, so that a rename suffices. It is random and never opened if it exists, so it cannot be planted. */
export function tempName(): string {
  return `.toolwright-${randomUUID().replaceAll('-', '')}.tmp`;
}
