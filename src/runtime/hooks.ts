import { isPlainObject } from '../kernel/check-arguments.ts';
import type { ExecutionContext } from '../kernel/execution-context.ts';
import { fail, type MaybePromise, type Result } from '../kernel/result.ts';
import type { CallScope } from './call-scope.ts';
import { type Ending, ending } from './ending.ts';

export interface HookedCall {
  readonly callId: string;
  readonly tool: string;
  /** A frozen copy: to change the arguments, return others. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly context: ExecutionContext;
}

/** A veto names its reason, which the model reads. Changed arguments are validated and judged like the first ones. */
export type BeforeAnswer = { veto: string } | { args: Record<string, unknown> } | undefined;
export type AfterAnswer = { veto: string } | undefined;

/**
 * A user's own step around every call. `before` comes after validation and before policy, also for arguments that a
 * person edited; `after` sees how a call that started ended, before anybody else, and may withhold it. A hook that
 * throws ends the call with INTERNAL: it may be a guard, so it does not fail open.
 */
export interface Hooks {
  readonly name: string;
  before?(call: HookedCall): MaybePromise<BeforeAnswer>;
  after?(call: HookedCall, result: Result<unknown>): MaybePromise<AfterAnswer>;
}

/** Asks every before-hook in turn; `change` takes arguments that one of them gave, or says why they do not fit. */
export async function applyHooks(
  hooks: readonly Hooks[],
  call: CallScope,
  change: (args: unknown) => Ending | undefined,
): Promise<Ending | undefined> {
  for (const hook of hooks) {
    if (hook.before === undefined) continue;
    call.stage = 'hook';
    call.hook = hook.name;
    const answer: unknown = (await call.bounded(hook.before(hookedCall(call)))) ?? undefined;
    if (answer === undefined) continue;
    if (!isPlainObject(answer)) throw new TypeError('it answered with neither a veto nor arguments');
    if (typeof answer.veto === 'string') return vetoed(call, hook.name, answer.veto);
    if (answer.args === undefined) throw new TypeError('it answered with neither a veto nor arguments');
    const misfit = change(answer.args);
    if (misfit !== undefined) return misfit;
  }
  return undefined;
}

export function hookedCall({ callId, toolName: tool, args, context }: CallScope): HookedCall {
  return { callId, tool, args: args as Record<string, unknown>, context };
}

function vetoed({ toolName }: CallScope, hook: string, why: string): Ending {
  return ending('denied', fail('PERMISSION_DENIED', `Hook ${hook} refused ${toolName}: ${why}`));
}
