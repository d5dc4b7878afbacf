import { z } from 'zod';
import { verdictPart } from './access.ts';

/**
 * Blocks that show a person a call before it runs. Invisible characters are escaped (`\u200b`, a trailing space as
 * `·`),
 * so that the preview is exactly what runs.
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
  ])
  .meta({ id: 'PreviewBlock' });
export type PreviewBlock = z.infer<typeof previewBlock>;
