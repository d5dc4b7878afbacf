import { isPlainObject } from '../kernel/tool/check-arguments.ts';
import { fail } from '../kernel/result.ts';
import type { CallScope } from './call-scope.ts';
import { type Ending, ending } from './ending.ts';
import type { HookedCall, Hooks } from './pipeline/hooks.ts';

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
