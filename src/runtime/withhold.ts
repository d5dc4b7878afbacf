import { messageOf } from '../kernel/error.ts';
import { fail, isPromise } from '../kernel/result.ts';
import { hookedCall } from './apply-hooks.ts';
import type { CallScope } from './call-scope.ts';
import { type Ending, ending } from './ending.ts';
import { Interruption, interruptible } from './pipeline/interruption.ts';
import type { Runtime } from './runtime.ts';

/** Shows how a call ended to the after-hooks, any of which may withhold it. What the tool did stays done. Never throws. */
export async function withhold(rt: Runtime, call: CallScope, end: Ending): Promise<Ending> {
  const { toolName: tool } = call;
  for (const hook of rt.hooks) {
    if (hook.after === undefined) continue;
    try {
      const asked = hook.after(hookedCall(call), end.result);
      // A call that was cancelled is shown to them as well, so only their time is bounded.
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
