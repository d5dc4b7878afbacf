import type { FinalState } from '../kernel/call.ts';
import type { Result } from '../kernel/result.ts';

/** How a call ended, before it is bounded, recorded and told. `text` is what the model reads of a value. */
export interface Ending {
  state: FinalState;
  result: Result<unknown>;
  text?: string;
}
