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
  })
  .meta({ id: 'Rule' });
export type RuleView = z.infer<typeof rule>;

export const ruleList = z.object({ items: z.array(rule) }).meta({ id: 'RuleList' });
export const saveRule = z.strictObject({ rule: z.string().min(1).max(2000), verdict }).meta({ id: 'SaveRule' });
