import type { FinalState } from '../kernel/call/call.ts';
import type { Result } from '../kernel/result.ts';

/** How a call ended, before it is bounded, recorded and told. */
export interface Ending {
  readonly kind: 'ending';
  readonly state: FinalState;
  readonly result: Result<unknown>;
  /** What the model reads, where that is not simply the value or the error's message. */
  readonly text: string | undefined;
}

export function ending(state: FinalState, result: Result<unknown>, text?: string): Ending {
  return { kind: 'ending', state, result, text };
}
