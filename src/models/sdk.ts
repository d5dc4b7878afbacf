import type { GuardedRequest } from './guarded-request.ts';

/**
 * The part of a provider's library we use: it sends one request and yields the raw events of the answer. Its message
 * helpers are not used, because they repair arguments that were cut off; nor are its retries, because ours restart a
 * broken turn. `post` and not `create`, which prints to the console about some models.
 */
export interface Sdk {
  /** Yields the events as an AsyncIterable; `fetchOptions.line` is the guarded request to send. */
  post(path: string, request: { body: object; stream: true; fetchOptions: object }): PromiseLike<unknown>;
}

/** Loads the library, at the first turn and not before. */
export type OpenSdk = (baseURL: string) => Promise<Sdk>;

/**
 * Set explicitly, because the libraries look for a missing key, address, organisation or log level in the environment
 * and
 * in files of the home folder. Only our own request knows the real key.
 */
const SDK_OPTIONS = {
  apiKey: 'none',
  maxRetries: 0,
  logLevel: 'off',
  fetch: (url: unknown, init: unknown) => {
    const { line, body } = init as { line: GuardedRequest; body: string };
    return line.post(String(url), body);
  },
} as const;

export const openAnthropicSdk: OpenSdk = async (baseURL) => {
  const { Anthropic } = await import('@anthropic-ai/sdk');
  return new Anthropic({ ...SDK_OPTIONS, baseURL, authToken: null, webhookKey: null, openTelemetry: false });
};

export const openOpenaiSdk: OpenSdk = async (baseURL) => {
  const { OpenAI } = await import('openai');
  const nobody = { adminAPIKey: null, organization: null, project: null, webhookSecret: null };
  return new OpenAI({ ...SDK_OPTIONS, baseURL, ...nobody });
};
