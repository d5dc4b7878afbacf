import { ok } from '../kernel/result.ts';
import { type EndpointOptions, streamTurn, type TurnReader } from './endpoint.ts';
import type { Model, ModelRequest, TurnDelta } from './model.ts';
import type { ModelOptions } from './model-options.ts';
import { toPortableRequest } from './portable-request.ts';
import { type OpenSdk, openOpenaiSdk } from './sdk.ts';

/** One wire format: its path, its request body and its reader. Everything else is shared. */
export interface Wire {
  /** Name in messages: "The chat endpoint example.com". */
  readonly called: string;
  readonly openSdk: OpenSdk;
  readonly path: string;
  headers(options: ModelOptions): Readonly<Record<string, string>>;
  toBody(options: ModelOptions, request: ModelRequest): object;
  /** Created for every attempt; `who` is for its messages. */
  createReader(who: string, tell: (heard: TurnDelta) => void): TurnReader;
}

/** A model behind an endpoint that speaks this wire format. */
export function wireModel(wire: Wire, options: ModelOptions): Model {
  const { model, baseUrl, headers, window, price, maxTokens: _, extra: __, ...reached } = options;
  const who = `The ${wire.called} endpoint ${new URL(baseUrl).host}`;
  let opened: ReturnType<OpenSdk> | undefined;
  const sdk = () => (opened ??= wire.openSdk(baseUrl.replace(/\/+$/, '')));
  const allHeaders = { ...wire.headers(options), ...headers };
  const endpoint: EndpointOptions = { ...reached, who, sdk, path: wire.path, headers: allHeaders };
  return {
    name: model,
    scripted: false,
    window,
    ...(price && { price }),
    async turn(request, turnOptions = {}) {
      const createReader = () => wire.createReader(who, (heard) => turnOptions.onDelta?.(heard));
      const turn = await streamTurn(
        endpoint,
        wire.toBody(options, toPortableRequest(request)),
        createReader,
        turnOptions,
      );
      return turn.ok ? ok({ role: 'assistant', model, ...turn.value }) : turn;
    },
  };
}

/** Shared by the wire formats of OpenAI. */
export const OPENAI = {
  openSdk: openOpenaiSdk,
  headers: ({ key }: ModelOptions): Record<string, string> =>
    key === undefined ? {} : { authorization: `Bearer ${key}` },
};
