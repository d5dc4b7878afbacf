import type { CallRecord } from '../kernel/call/call.ts';
import type { CallMove, NewEvent } from '../kernel/call/event.ts';
import { isPromise } from '../kernel/result.ts';
import type { CallScope } from './call-scope.ts';
import type { Runtime } from './runtime.ts';

/**
 * Records a step of a call, then tells it: what listeners see is always in the store already. A store keeps the steps
 * of a call in the order they are given, so to wait for one is to wait for all before it; a step that is not waited for
 * may share its commit with the next.
 */
export function record(rt: Runtime, call: CallScope, move: CallMove, event: NewEvent): void | Promise<void> {
  call.stage = 'store';
  const stored = rt.store.move(call.callId, call.epoch === undefined ? move : { ...move, epoch: call.epoch }, event);
  if (!isPromise(stored) && call.unkept === undefined) return told(stored);
  const inOrder = Promise.all([call.unkept, stored]);
  return notYet(
    call,
    inOrder.then(([, late]) => told(late)),
  );

  function told(recorded: Awaited<typeof stored>) {
    if (recorded === null) {
      call.recorded = false;
      throw new Error(`call ${call.callId} was ended or taken over elsewhere: look it up before you ask again`);
    }
    if (move.to === 'running') call.epoch = rt.store.node?.epoch;
    rt.bus.emit(recorded);
  }
}

/** The request of a call that cannot have been made before; its next step is what is waited for. */
export function recordUnawaited(call: CallScope, submitted: Promise<CallRecord | undefined>): void {
  void notYet(
    call,
    submitted.then(
      (known) => {
        if (known !== undefined) throw new Error(`the store has a call ${call.callId} already`);
      },
      (error) => {
        call.isUnknown = true;
        throw error;
      },
    ),
  );
}

/** Whoever waits for a later step hears of this one's failure. */
function notYet(call: CallScope, step: Promise<void>): Promise<void> {
  step.catch(() => {});
  call.unkept = step;
  return step;
}
