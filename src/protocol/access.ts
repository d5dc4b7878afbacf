import { z } from 'zod';

/** An access of a call: a path, host or command. */
export const access = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('fs.read'), path: z.string() }),
    z.object({
      kind: z.literal('fs.write'),
      path: z.string(),
      expect: z.union([z.literal('absent'), z.object({ version: z.string() })]).optional(),
    }),
    z.object({
      kind: z.literal('fs.delete'),
      path: z.string(),
      recursive: z.boolean().optional(),
      movedTo: z.string().optional().describe('It is only moved, to a name that is free'),
    }),
    z.object({
      kind: z.literal('fs.apply'),
      stage: z.string().describe('The pending changes'),
      digest: z.string(),
      paths: z.array(z.string()).describe('The first of them'),
      total: z.int(),
    }),
    z.object({
      kind: z.literal('process.run'),
      command: z.string(),
      writes: z.enum(['nothing', 'stage', 'workspace', 'background']).describe('stage: its changes wait to be kept'),
      network: z.literal(true).optional(),
    }),
    z.object({
      kind: z.literal('net.fetch'),
      url: z.string(),
      method: z.enum(['GET', 'POST']),
      redirects: z.object({ to: z.array(z.string()), notTo: z.array(z.string()) }).optional(),
    }),
    z.object({ kind: z.literal('net.search'), query: z.string() }),
    z.object({ kind: z.literal('unknown') }),
  ])
  .meta({ id: 'Access' });
export type AccessView = z.infer<typeof access>;

export const verdict = z.enum(['allow', 'ask', 'deny']);

/** One judged part of a call, and why. */
export const verdictPart = z
  .object({ what: z.string(), verdict, rule: z.string(), reason: z.string() })
  .meta({ id: 'VerdictPart' });
export type VerdictPart = z.infer<typeof verdictPart>;
