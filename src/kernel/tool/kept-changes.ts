import { z } from 'zod';
import { pathGroup } from './path-groups.ts';

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

/**
 * The outcome of a command's changes: of those that were kept or, where nothing was, of those that would have been. The lists name
 * files and empty folders, and of git's own data only what nothing else has. Deletions and protected paths are told completely.
 */
export const keptChanges = z.object({
  // `collected`: the session keeps them for one decision about all of its changes.
  state: z.enum(['kept', 'partly kept', 'collected', 'discarded', 'nothing changed']),
  counts: z
    .object({ created: z.int(), modified: z.int(), deleted: z.int(), repository: z.int() })
    .describe("Files, and folders that are empty or were deleted; repository counts git's own data"),
  created: z.array(z.string()).describe('The first hundred'),
  modified: z.array(z.string()).describe('The first hundred'),
  deleted: z.array(pathGroup).describe('All; of more than 500, folders that stand for the paths below them'),
  protected: z.array(pathGroup).describe('All changed paths that the host obeys or runs, in the same way'),
  total: z.int().describe("All paths that were kept, folders and git's own data included"),
  reason: z.string().nullable().describe('Why some or all were not kept, or not as the command left them'),
  notKept: z
    .array(z.object({ path: z.string(), text: z.string() }))
    .optional()
    .describe('Diffs of changes that were not kept, as far as there is room'),
});
export type KeptChanges = z.infer<typeof keptChanges>;

/** The outcome where nothing came into the workspace. */
export function nothingKept(state: 'discarded' | 'nothing changed', reason: string | null): KeptChanges {
  const counts = { created: 0, modified: 0, deleted: 0, repository: 0 };
  return { state, counts, created: [], modified: [], deleted: [], protected: [], total: 0, reason };
}
