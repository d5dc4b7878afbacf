import type { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { MaybePromise, Result } from '../../kernel/result.ts';

export interface HookedCall {
  readonly callId: string;
  readonly tool: string;
  /** A frozen copy: to change the arguments, return others. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly context: ExecutionContext;
}

/** A veto names its reason for the model. Changed arguments are validated and judged like the first ones. */
export type BeforeAnswer = { veto: string } | { args: Record<string, unknown> } | undefined;
export type AfterAnswer = { veto: string } | undefined;

/**
 * A user's own step around every call. `before` runs after validation and before policy, also for arguments that a
 * person edited; `after` gets the end of a started call first and may withhold it. A hook that throws ends the call
 * with INTERNAL: it may be a guard, so it does not fail open.
 */
export interface Hooks {
  readonly name: string;
  before?(call: HookedCall): MaybePromise<BeforeAnswer>;
  after?(call: HookedCall, result: Result<unknown>): MaybePromise<AfterAnswer>;
}
