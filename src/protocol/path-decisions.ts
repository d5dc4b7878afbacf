import { z } from 'zod';

export const pathDecisionKind = z
  .enum(['no-secret', 'commands', 'agreed-text'])
  .describe('no-secret: any tool uses it; commands: only commands see it; agreed-text: mode strict runs this text');

const digest = z.string().regex(/^[0-9a-f]{64}$/);

export const pathDecision = z
  .object({
    id: z.string(),
    workspace: z.string(),
    path: z.string().describe('A file of the workspace, or a folder with all in it'),
    kind: pathDecisionKind,
    digest: digest.nullable().describe('SHA-256 of the text that was agreed to; null for the other kinds'),
    by: z.string(),
    at: z.number(),
  })
  .meta({ id: 'PathDecision' });
export type PathDecisionView = z.infer<typeof pathDecision>;

export const pathDecisionList = z.object({ items: z.array(pathDecision) }).meta({ id: 'PathDecisionList' });

export const decidePath = z
  .strictObject({
    path: z.string().min(1).max(4096),
    kind: pathDecisionKind,
    workspace: z.string().max(200).optional().describe('An id of /v1/health; left out: the first'),
    digest: digest.optional().describe('Of the text that the person saw. Left out: of the file as it is now'),
  })
  .meta({ id: 'DecidePath' });
