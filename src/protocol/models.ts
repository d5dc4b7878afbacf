import { z } from 'zod';

export const PROVIDERS = ['anthropic', 'openai', 'openai-chat'] as const;
const provider = z.enum(PROVIDERS);

/** Keys come from the environment of the server and are never answered. */
export const models = z
  .object({
    current: z
      .object({ provider, model: z.string() })
      .nullable()
      .describe('Null: manual mode, a person drives the tools'),
    choices: z.array(
      z.object({
        provider,
        model: z.string().nullable().describe('What it would be; null where one must be named'),
        ready: z.boolean(),
        missing: z.string().nullable().describe('What it needs, where it is not ready'),
      }),
    ),
  })
  .meta({ id: 'Models' });
export type ModelsView = z.infer<typeof models>;

export const chooseModel = z
  .strictObject({
    provider: z.enum([...PROVIDERS, 'manual']),
    model: z.string().min(1).max(200).optional().describe("Left out: the configured one, or the provider's usual one"),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .max(2000)
      .optional()
      .describe('An endpoint of your own. It is sent no key and no headers of the configuration'),
  })
  .meta({ id: 'ChooseModel' });
export type ModelChoice = z.infer<typeof chooseModel>;
