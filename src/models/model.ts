import type { JsonSchema } from '../kernel/tool/input-schema.ts';
import type { AssistantMessage, Message } from '../kernel/call/message.ts';
import type { Result } from '../kernel/result.ts';

/** A tool as a model is told of it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface ModelRequest {
  readonly system: string;
  readonly tools: readonly OfferedTool[];
  readonly messages: readonly Message[];
}

/** What is heard while a turn is under way. `restarted`: the turn begins anew, forget what came. */
export type Heard =
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  | { readonly kind: 'call'; readonly text: string }
  | { readonly kind: 'restarted'; readonly text: string };

export interface TurnOptions {
  readonly signal?: AbortSignal;
  onHeard?(heard: Heard): void;
}

/** What a million tokens cost, in whatever currency the user counts. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/**
 * Something that answers a conversation. Contract: never throws; tries again by itself as long as that can help, which
 * is safe because nothing of a turn runs before the turn is whole. Arguments that are not whole are a `problem` of
 * their call, never half an object. Failures:
 *   NOT_CONFIGURED  the key is missing or refused
 *   TOO_LARGE       the conversation does not fit
 *   INVALID_INPUT   the endpoint refuses the request
 *   NETWORK_ERROR   it cannot be reached, or broke off, after all tries
 *   CANCELLED       the signal came
 */
export interface Model {
  /** As it is recorded and shown. */
  readonly name: string;
  /** Decides by a script; whoever shows its answers says so. */
  readonly scripted: boolean;
  /** How much fits, in tokens. */
  readonly window: number;
  readonly price?: Price;
  turn(request: ModelRequest, options?: TurnOptions): Promise<Result<AssistantMessage>>;
}
