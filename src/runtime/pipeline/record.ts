import type { CallRecord } from '../../kernel/call/call.ts';
import type { CallMove, NewEvent } from '../../kernel/call/event.ts';
import { messageOf } from '../../kernel/error.ts';
import { isPromise } from '../../kernel/result.ts';
import type { Runtime } from '../runtime.ts';
import type { CallRequest, CallScope } from './call-scope.ts';

/**
 * Records a step of a call, then emits it: an event that listeners see is always in the store. A store keeps the steps
 * of a call in order, so waiting for one is waiting for all before it; a step that is not awaited may share its commit
 * with the next.
 */
export function record(rt: Runtime, call: CallScope, move: CallMove, event: NewEvent): void | Promise<void> {
  call.stage = 'store';
  const stored = rt.store.move(call.callId, call.epoch === undefined ? move : { ...move, epoch: call.epoch }, event);
  if (!isPromise(stored) && call.unconfirmed === undefined) return told(stored);
  const inOrder = Promise.all([call.unconfirmed, stored]);
  return setUnconfirmed(
    call,
    inOrder.then(([, late]) => told(late)),
  );

  function told(recorded: Awaited<typeof stored>) {
    if (recorded === null) {
      call.recorded = false;
      throw new Error(`call ${call.callId} was ended or taken over elsewhere: look it up before you repeat it`);
    }
    if (move.to === 'running') call.epoch = rt.store.node?.epoch;
    rt.bus.emit(recorded);
  }
}

/** Handles the request of a call that cannot exist yet; its next step is awaited instead. */
export function recordUnawaited(call: CallScope, submitted: Promise<CallRecord | undefined>): void {
  void setUnconfirmed(
    call,
    submitted.then(
      (known) => {
        if (known !== undefined) throw new Error(`the store has a call ${call.callId} already`);
      },
      (error) => {
        call.isUnrecorded = true;
        throw error;
      },
    ),
  );
}

/** A failure of this step rejects the wait for any later step. */
function setUnconfirmed(call: CallScope, step: Promise<void>): Promise<void> {
  step.catch(() => {});
  call.unconfirmed = step;
  return step;
}

/** Catches what the callback throws: it must not decide whether the call runs. */
export function notifyCaller(rt: Runtime, { onRecorded }: CallRequest, id: string): void {
  try {
    onRecorded?.(id);
  } catch (error) {
    rt.log.error({ callId: id }, `The callback onRecorded failed: ${messageOf(error)}`);
  }
}
