import type { CallRecord } from '../kernel/call/call.ts';
import type { CallScope } from './call-scope.ts';
import type { Runtime } from './runtime.ts';

/**
 * Takes over a call that its process left behind. It goes its whole way again: validated, judged and asked about as if
 * it were new. Undefined when the call is ours now; otherwise how it stands, as somebody else was quicker.
 */
export async function takeOver(rt: Runtime, call: CallScope, queued: CallRecord): Promise<CallRecord | undefined> {
  const { callId } = call;
  const data = { tool: queued.tool, attempt: queued.attempt ?? 0 };
  const event = { type: 'call.resumed', callId, at: rt.clock.now(), data } as const;
  const taken = await rt.store.move(callId, { from: ['queued'], to: 'requested' }, event);
  if (taken === null) return (await rt.store.call(callId)) ?? { ...queued, state: 'interrupted' };
  call.epoch = rt.store.node?.epoch;
  rt.bus.emit(taken);
  return undefined;
}
