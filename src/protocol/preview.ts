import { z } from 'zod';
import { CHANGE_CLASSES } from '../kernel/world/stage.ts';
import { verdictPart } from './access.ts';

/** One changed path of a command, or a new or deleted folder with everything in it. */
export const changeItem = z
  .object({
    path: z.string().describe('Exactly as it is on the disk, so that it can be chosen'),
    shown: z
      .string()
      .optional()
      .describe('The path as people read it, where its line breaks or unseen characters are written out'),
    kind: z.enum(['created', 'modified', 'deleted', 'mode']).describe('mode: only its permissions differ'),
    class: z.enum(CHANGE_CLASSES).describe('protected: the host would run or obey it. sensitive, special: never kept'),
    reason: z.string().optional().describe('Why it is protected, sensitive or special, or what is lost by it'),
    loses: z.literal(true).optional().describe('Keeping it takes away what nothing else has'),
    overtaken: z.literal(true).optional().describe('The file in the workspace changed while the command ran'),
    added: z.int().optional().describe('Lines, where both sides are text'),
    removed: z.int().optional(),
    diff: z.string().optional().describe('A unified diff without headers; its hunks are numbered from 1'),
    truncated: z.literal(true).optional().describe('The diff was left out for want of room'),
    bytes: z.number().optional(),
    entries: z.int().optional().describe('Of a folder: everything in it'),
    inside: z
      .int()
      .optional()
      .describe(
        'The folder stands for so many changes of this kind below it, too many to show: choose it by none but all',
      ),
    leadsTo: z.string().optional().describe('Of a symlink'),
  })
  .meta({ id: 'ChangeItem' });
export type ChangeItem = z.infer<typeof changeItem>;

/**
 * Blocks that show a person a call before it runs. Invisible characters are escaped (`\u200b`, a trailing space as
 * `·`),
 * so that the preview is exactly what runs. The paths of changes are exact; `shown` has them escaped.
 */
export const previewBlock = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('diff'), text: z.string(), truncated: z.boolean() }),
    z.object({
      kind: z.literal('command'),
      command: z.string(),
      parts: z.array(verdictPart).describe('Every simple command in it, as the policy judged it'),
      truncated: z.boolean(),
    }),
    z.object({ kind: z.literal('url'), method: z.string(), url: z.string(), host: z.string() }),
    z.object({ kind: z.literal('text'), text: z.string(), truncated: z.boolean() }),
    z.object({
      kind: z.literal('changes'),
      title: z.string().describe('The command that made them'),
      items: z.array(changeItem),
      total: z.int().describe('Of all changed paths, also those that stand behind an item'),
      truncated: z.boolean(),
      repository: z.array(z.string()).describe('Changes of branches and commits in words'),
    }),
  ])
  .meta({ id: 'PreviewBlock' });
export type PreviewBlock = z.infer<typeof previewBlock>;
export type ChangesBlock = Extract<PreviewBlock, { kind: 'changes' }>;
