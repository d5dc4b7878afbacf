import { messageOf } from '../../kernel/error.ts';
import { fail, isPromise } from '../../kernel/result.ts';
import { isPlainObject } from '../../kernel/tool/check-arguments.ts';
import type { Runtime } from '../runtime.ts';
import type { CallScope } from './call-scope.ts';
import { type Ending, ending } from './call-scope.ts';
import type { HookedCall, Hooks } from './hooks.ts';
import { Interruption, interruptible } from './interruption.ts';

/** Runs the before-hooks in order. `change` applies arguments that a hook returned, or returns why they are invalid. */
export async function runBeforeHooks(
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

/** Runs the after-hooks, each of which may withhold the result; effects of the tool stay. Never throws. */
export async function runAfterHooks(rt: Runtime, call: CallScope, end: Ending): Promise<Ending> {
  const { toolName: tool } = call;
  for (const hook of rt.hooks) {
    if (hook.after === undefined) continue;
    try {
      const asked = hook.after(hookedCall(call), end.result);
      // Hooks see a cancelled call as well, so only their time is limited.
      const limitMs = call.context.timeout * 1000;
      const answer = (isPromise(asked) ? await interruptible(asked, limitMs) : asked) ?? undefined;
      if (answer === undefined) continue;
      const message = `${tool} ran, but hook ${hook.name} withheld its result: ${answer.veto}`;
      return ending('failed', fail('PERMISSION_DENIED', message));
    } catch (thrown) {
      const why = Interruption.is(thrown) ? 'it did not answer' : messageOf(thrown);
      return ending('failed', fail('INTERNAL', `Hook ${hook.name} failed, so ${tool} gives no result: ${why}`));
    }
  }
  return end;
}

function hookedCall({ callId, toolName: tool, args, context }: CallScope): HookedCall {
  return { callId, tool, args: args as Record<string, unknown>, context };
}

function vetoed({ toolName }: CallScope, hook: string, why: string): Ending {
  return ending('denied', fail('PERMISSION_DENIED', `Hook ${hook} refused ${toolName}: ${why}`));
}
