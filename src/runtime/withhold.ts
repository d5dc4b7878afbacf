import { fail, isPromise } from '../kernel/result.ts';
import type { CallScope } from './call-scope.ts';
import type { Ending } from './ending.ts';
import { interruptible } from './interruption.ts';
import type { Runtime } from './runtime.ts';

/** Shows the ending to the after-hooks, any of which may withhold it. What the tool did stays done. */
export async function withhold(rt: Runtime, call: CallScope, ending: Ending): Promise<Ending> {
  for (const hook of rt.hooks) {
    if (hook.after === undefined) continue;
    call.stage = 'hook';
    const { callId, context, toolName: tool } = call;
    const asked = hook.after({ callId, tool, args: call.args as Record<string, unknown>, context }, ending.result);
    const answer = isPromise(asked) ? await interruptible(asked, call.timeout * 1000, call.cancelSignal) : asked;
    if (answer === undefined) continue;
    const message = `${tool} ran, but hook ${hook.name} withheld its result: ${answer.veto}`;
    return { state: 'failed', result: fail('PERMISSION_DENIED', message) };
  }
  return ending;
}
