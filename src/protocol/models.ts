import { z } from 'zod';

export const PROVIDERS = ['anthropic', 'openai', 'openai-chat'] as const;
const provider = z.enum(PROVIDERS);

/** Keys come from the server's environment or the user's key file, and are never sent. */
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
        keyFrom: z
          .enum(['environment', 'configuration'])
          .nullable()
          .describe('Where its key is; null where there is none'),
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
      .describe(
        'An endpoint of your own. It is sent no headers of the configuration, and only a key that was saved for it',
      ),
  })
  .meta({ id: 'ChooseModel' });
export type ModelChoice = z.infer<typeof chooseModel>;

export const saveModelKey = z
  .strictObject({
    provider,
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .max(2000)
      .optional()
      .describe("The endpoint it is for; left out: the configured one, or the provider's own"),
    key: z
      .string()
      .regex(/^[\x21-\x7e]{1,1000}$/, 'a key is one line without blanks')
      .nullable()
      .describe('Kept in a file for the user alone and answered by nothing; null forgets it'),
  })
  .meta({ id: 'SaveModelKey' });
export type ModelKeyChange = z.infer<typeof saveModelKey>;
