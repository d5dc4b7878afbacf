import { ok } from '../kernel/result.ts';
import { type EndpointOptions, streamTurn, type TurnReader } from './endpoint.ts';
import type { Heard, Model, ModelRequest } from './model.ts';
import type { ModelOptions } from './model-options.ts';

/** What one wire format is: where it is asked, in which words, and how its answer is read. The rest is the same for all. */
export interface Wire {
  /** Its name in messages: «The chat endpoint example.com». */
  readonly called: string;
  readonly path: string;
  headers(options: ModelOptions): Readonly<Record<string, string>>;
  toBody(options: ModelOptions, request: ModelRequest): object;
  /** Made anew for every try; `who` is for its messages. */
  createReader(who: string, tell: (heard: Heard) => void): TurnReader;
}

/** A model behind an endpoint that speaks this wire format. */
export function wireModel(wire: Wire, options: ModelOptions): Model {
  const { model, baseUrl, key, headers, window, price, maxTokens: _, extra: __, ...tuning } = options;
  const who = `The ${wire.called} endpoint ${new URL(baseUrl).host}`;
  const url = `${baseUrl.replace(/\/+$/, '')}${wire.path}`;
  const allHeaders = { ...wire.headers(options), ...headers };
  const endpoint: EndpointOptions = { ...tuning, who, url, headers: allHeaders, ...(key !== undefined && { key }) };
  return {
    name: model,
    scripted: false,
    window,
    ...(price && { price }),
    async turn(request, turnOptions = {}) {
      const createReader = () => wire.createReader(who, (heard) => turnOptions.onHeard?.(heard));
      const body = JSON.stringify(wire.toBody(options, request));
      const turn = await streamTurn(endpoint, body, createReader, turnOptions);
      return turn.ok ? ok({ role: 'assistant', model, ...turn.value }) : turn;
    },
  };
}

export function bearerKey({ key }: ModelOptions): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}
