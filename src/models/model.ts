import type { AssistantMessage, Message } from '../kernel/call/message.ts';
import type { Result } from '../kernel/result.ts';
import type { JsonSchema } from '../kernel/tool/input-schema.ts';

/** A tool as described to a model. */
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

/** A piece of a turn under way. `restarted`: the turn begins again, and earlier pieces are void. */
export type TurnDelta =
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  | { readonly kind: 'call'; readonly text: string }
  | { readonly kind: 'restarted'; readonly text: string };

export interface TurnOptions {
  readonly signal?: AbortSignal;
  onDelta?(heard: TurnDelta): void;
}

/** Price of a million tokens, in the user's currency. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/**
 * Answers a conversation. Contract: never throws; retries by itself as long as that can help, which is safe because no
 * part of a turn runs before the turn is complete. Incomplete arguments are a `problem` of their call, never half an
 * object. Failures:
 * NOT_CONFIGURED  the key is missing or refused
 * TOO_LARGE       the conversation does not fit
 * INVALID_INPUT   the endpoint refuses the request
 * NETWORK_ERROR   it cannot be reached, or broke off, after all attempts
 * CANCELLED       the signal aborted
 */
export interface Model {
  /** Name in records and messages. */
  readonly name: string;
  /** Whether a script decides; every view of its answers says so. */
  readonly scripted: boolean;
  /** Context window in tokens. */
  readonly window: number;
  readonly price?: Price;
  turn(request: ModelRequest, options?: TurnOptions): Promise<Result<AssistantMessage>>;
}
