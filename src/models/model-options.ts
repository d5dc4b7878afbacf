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
  /** Request fields specific to the provider, such as `thinking`. */
  readonly extra?: Readonly<Record<string, unknown>>;
}
