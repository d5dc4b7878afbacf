import type { CallMove, NewEvent } from '../kernel/event.ts';
import { isPromise } from '../kernel/result.ts';
import type { CallScope } from './call-scope.ts';
import type { Runtime } from './runtime.ts';

/** Records a step of a call, then tells it: what listeners see is always in the store already. */
export function record(rt: Runtime, call: CallScope, move: CallMove, event: NewEvent): void | Promise<void> {
  call.stage = 'store';
  const stored = rt.store.move(call.callId, move, event);
  if (isPromise(stored)) return stored.then((late) => told(late));
  told(stored);

  function told(recorded: Awaited<typeof stored>) {
    if (recorded === null) throw new Error(`the store has call ${call.callId} in another state than expected`);
    rt.bus.emit(recorded);
  }
}
