import { z } from 'zod';
import { keptChanges as outcomeOfChanges } from '../kernel/tool/kept-changes.ts';
import { changeItem } from './preview.ts';

/** Changes of a command, or all of a session, that wait to be kept or discarded. Nothing of them is in the workspace yet. */
export const pendingChanges = z
  .object({
    id: z.string(),
    callId: z.string().describe('The call of the command; its undo takes back what was kept'),
    session: z.string(),
    title: z.string().describe('The command'),
    createdAt: z.number(),
    isPartial: z.boolean().describe('The command was stopped: only files that git ignores can be kept'),
    digest: z.string().describe('Another one when other changes have come; give it back to decide about these'),
    total: z.int().describe('Changed paths'),
    kinds: z.record(z.string(), z.int()).describe('Their number by kind: created, modified, deleted, mode'),
    classes: z.record(z.string(), z.int()).describe('Their number by class'),
    approvalId: z.string().nullable().describe('The question about them, while it is open'),
    ofSession: z.boolean().describe('All that a session collected, instead of the changes of one command'),
    collecting: z
      .boolean()
      .describe('The session still adds to them; keeping or discarding decides about those so far'),
    onto: z.string().nullable().describe('The session in whose changes they are kept; null: in the workspace'),
    overtaken: z
      .object({ title: z.string(), paths: z.array(z.string()) })
      .nullable()
      .describe('Other changes that were kept since, and the first hundred paths that both change'),
  })
  .meta({ id: 'PendingChanges' });
export type PendingChangesView = z.infer<typeof pendingChanges>;

export const changesQuery = z.strictObject({ session: z.string().optional() });
export const changesList = z.object({ items: z.array(pendingChanges) }).meta({ id: 'ChangesList' });

export const changesPageQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0).describe('`next` of the page before'),
  limit: z.coerce.number().int().min(1).max(500).default(200),
  form: z
    .enum(['paths', 'diffs'])
    .default('paths')
    .describe(
      'diffs: deletions, protected files and what nobody may keep, by folder where they are thousands, then others up to 500, with diffs as far as there is room; no further page',
    ),
});
export const changesPage = pendingChanges
  .extend({
    repository: z.array(z.string()).describe('Changes of branches and commits in words'),
    items: z.array(changeItem).describe('One for each path in the order of their paths, or as `form` says'),
    truncated: z.boolean().describe('Of the form diffs: some changes are not among the items'),
    next: z.int().nullable(),
  })
  .meta({ id: 'ChangesPage' });

export const changedFileQuery = z.strictObject({
  path: z.string().min(1).max(4096),
  side: z.enum(['before', 'after']).describe('before: in the workspace. after: as the command left it'),
});
export const changedFile = z
  .object({
    path: z.string(),
    side: z.enum(['before', 'after']),
    text: z.string().nullable().describe('Null where there is no file on this side'),
    hidden: z.boolean().describe('Secrets in it were hidden: do not send it back as an edited text'),
  })
  .meta({ id: 'ChangedFile' });

const MAX_CHOSEN = 10_000;
const shownDigest = z
  .string()
  .max(200)
  .optional()
  .describe('Of the changes that were looked at: 409 when there are others');

/** A part of the changes. Left out: all that may be kept. */
export const keepChanges = z
  .strictObject({
    paths: z
      .array(z.string().min(1).max(4096))
      .min(1, 'name at least one path, or discard the changes')
      .max(MAX_CHOSEN)
      .optional()
      .describe('Keep only these; a folder stands for everything in it'),
    hunks: z
      .record(z.string(), z.array(z.int().min(1)))
      .optional()
      .describe('Of a text file, keep only these hunks of its diff'),
    texts: z.record(z.string(), z.string()).optional().describe('Keep this text instead of the one the command wrote'),
    digest: shownDigest,
  })
  .meta({ id: 'KeepChanges' });
export type KeepChanges = z.infer<typeof keepChanges>;

export const discardChanges = z
  .strictObject({
    message: z.string().max(4000).optional().describe('Words for the model, while it waits'),
    digest: shownDigest,
  })
  .meta({ id: 'DiscardChanges' });

export const collectChanges = z
  .strictObject({
    collect: z.boolean().describe('False ends it: what was collected is pending from then on'),
    onto: z.string().optional().describe('The session in whose changes they are kept. Left out: in the workspace'),
  })
  .meta({ id: 'CollectChanges' });
export const collecting = z
  .object({
    collects: z.boolean(),
    changes: z.string().nullable().describe('Pending changes that were collected until now'),
  })
  .meta({ id: 'Collecting' });

/** The outcome of a command's changes. */
export const keptChanges = outcomeOfChanges.meta({ id: 'KeptChanges' });
export type { KeptChanges as KeptChangesView } from '../kernel/tool/kept-changes.ts';
