import { randomUUID } from 'node:crypto';
import type { Result } from '../kernel/result.ts';
import type { Applied } from '../kernel/world/workspace.ts';
import type { ByWhom } from './watch/change-author.ts';
import type { Recorded } from './journal/change-set.ts';
import type { Contents } from './file-content.ts';
import type { Journal } from './journal/journal.ts';
import type { Place } from './workspace-root.ts';
import type { SecretInodes } from './secret-inodes.ts';
import type { SecretValues } from '../secrets/secret-values.ts';
import type { Seen } from './seen.ts';
import type { Spot } from '../host/walk-path.ts';

/** What changing files needs. */
export interface Writer {
  readonly place: Place;
  readonly secrets: SecretInodes;
  readonly values: SecretValues;
  readonly journal: Journal | undefined;
  readonly seen: Seen;
  readonly session: string;
  readonly byWhom: ByWhom;
  /** Of this call. */
  readonly contents: Contents;
  /** Checks only: no folder is made, nothing is kept. */
  readonly rehearsal?: boolean;
  /** Called before a folder is made for a change. Throws what the system throws; then it is not made. */
  aboutToMake?(path: string): void;
  /** Whether a place is still what the call was judged by. `given` is the path as the change names it. */
  stillOpen?(given: string, spot: Pick<Spot, 'path' | 'via'>): Result<void>;
}

/** A change that was looked up and checked, with everything open that it needs. Nothing has changed yet. */
export interface Prepared {
  /** The real places it touches. */
  readonly paths: readonly string[];
  readonly applied: Applied;
  readonly recorded: Recorded;
  /** Does it. A failure means that this change did nothing. */
  perform(): Promise<Result<void>>;
  /** Closes what is open; with `failed`, also removes what preparing made. */
  dispose(how: 'done' | 'failed'): void;
}

/** Beside the file, so that a rename suffices; random and never opened if it exists, so nobody can lie in wait. */
export function tempName(): string {
  return `.toolwright-${randomUUID().replaceAll('-', '')}.tmp`;
}
