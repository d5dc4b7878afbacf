import { z } from 'zod';

/** Blocks that show a result. Text in them is data and shown as text. */
export const viewBlock = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('text'), text: z.string() }),
    z.object({ kind: z.literal('code'), text: z.string(), path: z.string().optional() }),
    z.object({ kind: z.literal('diff'), text: z.string() }),
    z.object({ kind: z.literal('table'), columns: z.array(z.string()), rows: z.array(z.array(z.string())) }),
    z.object({ kind: z.literal('image'), mimeType: z.string(), base64: z.string(), alt: z.string() }),
    z.object({ kind: z.literal('files'), paths: z.array(z.string()) }),
    z.object({
      kind: z.literal('terminal'),
      text: z.string(),
      exitCode: z.number().nullable().describe('Null while it runs, and after a signal'),
      durationMs: z.number().nullable().describe('Null while it runs'),
      title: z.string().optional().describe('The program, where the arguments of the call do not show it'),
    }),
  ])
  .meta({ id: 'ViewBlock' });
export type ViewBlock = z.infer<typeof viewBlock>;
