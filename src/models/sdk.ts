import type { GuardedLine } from './guarded-request.ts';

/**
 * What we use of a provider's own library: it sends one request and gives the raw events of the answer. Its helpers
 * that gather a message are left alone, as they repair arguments that were cut off; its retries too, as ours begin a
 * turn that broke anew. `post` and not `create`, which prints to the console about some models.
 */
export interface Sdk {
  /** The events as an AsyncIterable; `fetchOptions.line` is the way this request goes. */
  post(path: string, request: { body: object; stream: true; fetchOptions: object }): PromiseLike<unknown>;
}

/** Loads the library: for the first turn, not before. */
export type OpenSdk = (baseURL: string) => Promise<Sdk>;

/**
 * The libraries look for a key, an address, an organisation and a log level in their environment and in files of the
 * home folder wherever they are given none. The key itself only our line knows.
 */
const GIVEN = {
  apiKey: 'none',
  maxRetries: 0,
  logLevel: 'off',
  fetch: (url: unknown, init: unknown) => {
    const { line, body } = init as { line: GuardedLine; body: string };
    return line.post(String(url), body);
  },
} as const;

export const openAnthropicSdk: OpenSdk = async (baseURL) => {
  const { Anthropic } = await import('@anthropic-ai/sdk');
  return new Anthropic({ ...GIVEN, baseURL, authToken: null, webhookKey: null, openTelemetry: false });
};

export const openOpenaiSdk: OpenSdk = async (baseURL) => {
  const { OpenAI } = await import('openai');
  const nobody = { adminAPIKey: null, organization: null, project: null, webhookSecret: null };
  return new OpenAI({ ...GIVEN, baseURL, ...nobody });
};
