/**
 * What we use of a provider's own library: it sends one request and gives the raw events of the answer. Its helpers
 * that gather a message are left alone, as they repair arguments that were cut off; its retries too, as ours begin a
 * turn that broke anew. `post` and not `create`, which prints to the console about some models.
 */
export interface Sdk {
  post(path: string, request: { body: object; stream: true }): PromiseLike<unknown>;
}

export type OpenSdk = (given: { baseURL: string; fetch: typeof fetch }) => Promise<Sdk>;

/**
 * The libraries look for a key, an address, an organisation and a log level in their environment and in files of the
 * home folder wherever they are given none. The key itself is written by our own line, so that it is in one hand.
 */
const GIVEN = { apiKey: 'none', maxRetries: 0, logLevel: 'off' } as const;

/** Kept, as asking Node for a module anew costs more than a turn's own work. */
let anthropic: Promise<typeof import('@anthropic-ai/sdk')> | undefined;
let openai: Promise<typeof import('openai')> | undefined;

export const openAnthropicSdk: OpenSdk = async (given) => {
  anthropic ??= import('@anthropic-ai/sdk');
  const { Anthropic } = await anthropic;
  return new Anthropic({ ...GIVEN, ...given, authToken: null, webhookKey: null, openTelemetry: false });
};

export const openOpenaiSdk: OpenSdk = async (given) => {
  openai ??= import('openai');
  const { OpenAI } = await openai;
  const nobody = { adminAPIKey: null, organization: null, project: null, webhookSecret: null };
  return new OpenAI({ ...GIVEN, ...given, ...nobody });
};
