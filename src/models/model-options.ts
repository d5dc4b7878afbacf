import type { EndpointOptions } from './endpoint.ts';
import type { Price } from './model.ts';

export interface ModelOptions extends Pick<EndpointOptions, 'tries' | 'retryDelayMs' | 'stallMs'> {
  readonly model: string;
  readonly baseUrl: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Tokens of one answer. */
  readonly maxTokens: number;
  readonly window: number;
  readonly price?: Price;
  /** Fields of the request that are the provider's own, such as `thinking`. */
  readonly extra?: Readonly<Record<string, unknown>>;
}
