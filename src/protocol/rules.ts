import { z } from 'zod';
import { verdict } from './access.ts';

/** `id` is null for a rule of the configuration, which is changed there. */
export const rule = z
  .object({
    id: z.string().nullable(),
    rule: z.string(),
    verdict,
    by: z.string().nullable(),
    savedAt: z.number().nullable(),
    workspace: z.string().nullable().describe('The only workspace it holds in; null: all'),
  })
  .meta({ id: 'Rule' });
export type RuleView = z.infer<typeof rule>;

export const ruleList = z.object({ items: z.array(rule) }).meta({ id: 'RuleList' });
export const saveRule = z
  .strictObject({
    rule: z.string().min(1).max(2000),
    verdict,
    workspace: z.string().max(200).optional().describe('The only workspace it holds in. Left out: all'),
  })
  .meta({ id: 'SaveRule' });
