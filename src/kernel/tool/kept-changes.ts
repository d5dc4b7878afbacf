import { z } from 'zod';

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

/** The outcome of a command's changes. The lists name files and empty folders, and none of git's own data. */
export const keptChanges = z.object({
  // `collected`: the session keeps them for one decision about all of its changes.
  state: z.enum(['kept', 'partly kept', 'collected', 'discarded', 'nothing changed']),
  counts: z
    .object({ created: z.int(), modified: z.int(), deleted: z.int(), repository: z.int() })
    .describe("Files and empty folders that were kept; repository counts git's own data"),
  created: z.array(z.string()).describe('The first hundred'),
  modified: z.array(z.string()).describe('The first hundred'),
  deleted: z.array(z.string()).describe('The first hundred'),
  total: z.int().describe("All paths that were kept, folders and git's own data included"),
  reason: z.string().nullable().describe('Why some or all were not kept, or not as the command left them'),
});
export type KeptChanges = z.infer<typeof keptChanges>;

/** The outcome where nothing came into the workspace. */
export function nothingKept(state: 'discarded' | 'nothing changed', reason: string | null): KeptChanges {
  const counts = { created: 0, modified: 0, deleted: 0, repository: 0 };
  return { state, counts, created: [], modified: [], deleted: [], total: 0, reason };
}
