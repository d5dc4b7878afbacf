import { z } from 'zod';
import { verdictPart } from './access.ts';

/**
 * What a person is shown of a call before it runs, from a small closed set. Characters that cannot be seen are written
 * out (`\u200b`, a space at an end as `·`), so that what is shown is exactly what runs.
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
