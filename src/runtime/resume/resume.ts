import type { ApprovalRecord } from '../../kernel/call/approval.ts';
import type { CallRecord } from '../../kernel/call/call.ts';
import type { CallScope } from '../pipeline/call-scope.ts';
import type { Runtime } from '../runtime.ts';

/**
 * Takes over a queued call of an ended process, which is then validated, judged and approved like a new one. Returns
 * undefined on success; otherwise the record of the call, because another process was first.
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

/**
 * Returns the answer of a person to a call whose asking process ended; undefined when there was no question or no
 * answer. An approval is used up once the call has started; a refusal stays valid.
 */
export async function earlierAnswer(rt: Runtime, call: CallScope): Promise<ApprovalRecord | undefined> {
  const { resume } = call.request;
  if (resume === undefined) return undefined;
  call.stage = 'store';
  const approval = await rt.store.approvalOf?.(call.callId);
  const isAnswer = approval != null && approval.state !== 'pending' && approval.state !== 'superseded';
  const isUsedUp = approval?.state === 'approved' && (resume.attempt ?? 0) > 0;
  return isAnswer && !isUsedUp ? approval : undefined;
}
