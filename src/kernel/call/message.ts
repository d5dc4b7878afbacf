/** A message of a session, independent of any provider: every wire format is made from it and read into it. */
export type Message = UserMessage | AssistantMessage | ResultsMessage;

export interface UserMessage {
  readonly role: 'user';
  readonly text: string;
  /** `runtime` for a note that no person typed, such as "go on". */
  readonly from: 'person' | 'runtime';
}

export interface AssistantMessage {
  readonly role: 'assistant';
  /** In the order of the model's output. Never empty. */
  readonly parts: readonly MessagePart[];
  readonly model: string;
  readonly stop: Stop;
  readonly usage: Usage;
}

/** One answer for each call of the message before, in its order. */
export interface ResultsMessage {
  readonly role: 'results';
  readonly results: readonly ResultPart[];
}

export type MessagePart = TextPart | ThinkingPart | CallPart;

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** `block` goes back unchanged over the wire format it came from, and is left out on any other. */
export interface ThinkingPart {
  readonly type: 'thinking';
  readonly text: string;
  readonly wire: string;
  readonly block: unknown;
  /** The record hides part of the block, so that no provider accepts it back. */
  readonly isIncomplete?: true;
}

export interface CallPart {
  readonly type: 'call';
  /** The model's name for it, unique in the session. */
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Why the arguments cannot be used; `args` is empty then, and the call is answered without being made. */
  readonly problem?: string;
  /** The record hides some of the arguments: the call is not made again, but its answer is looked up. */
  readonly isIncomplete?: true;
}

export interface ResultPart {
  /** The call it answers. */
  readonly id: string;
  readonly name: string;
  /** The record of the call; null when none was made. */
  readonly callId: string | null;
  readonly text: string;
  readonly isError: boolean;
}

/** Why the model stopped. `detail` is the provider's own word, where ours is not enough. */
export interface Stop {
  readonly reason: 'end' | 'calls' | 'length' | 'paused' | 'refused' | 'window' | 'unknown';
  readonly detail?: string;
}

/** Tokens. `input` is what was neither read from the provider's cache nor written to it. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export const NO_USAGE: Usage = Object.freeze({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });

/** How a run ended: `done` is the model's own end; in all other cases something stopped it. */
export type RunEnd = 'done' | 'stopped' | 'budget' | 'loop' | 'refused' | 'failed';
