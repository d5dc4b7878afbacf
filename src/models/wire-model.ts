import { ok } from '../kernel/result.ts';
import { type EndpointOptions, streamTurn, type TurnReader } from './endpoint.ts';
import type { Heard, Model, ModelRequest } from './model.ts';
import type { ModelOptions } from './model-options.ts';
import { type OpenSdk, openOpenaiSdk } from './sdk.ts';
import { sendable } from './sendable.ts';

/** What one wire format is: where it is asked, in which words, and how its answer is read. The rest is the same for all. */
export interface Wire {
  /** Its name in messages: «The chat endpoint example.com». */
  readonly called: string;
  readonly openSdk: OpenSdk;
  readonly path: string;
  headers(options: ModelOptions): Readonly<Record<string, string>>;
  toBody(options: ModelOptions, request: ModelRequest): object;
  /** Made anew for every try; `who` is for its messages. */
  createReader(who: string, tell: (heard: Heard) => void): TurnReader;
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
      const createReader = () => wire.createReader(who, (heard) => turnOptions.onHeard?.(heard));
      const turn = await streamTurn(endpoint, wire.toBody(options, sendable(request)), createReader, turnOptions);
      return turn.ok ? ok({ role: 'assistant', model, ...turn.value }) : turn;
    },
  };
}

/** What the wire formats of OpenAI have in common. */
export const OPENAI = {
  openSdk: openOpenaiSdk,
  headers: ({ key }: ModelOptions): Record<string, string> =>
    key === undefined ? {} : { authorization: `Bearer ${key}` },
};
