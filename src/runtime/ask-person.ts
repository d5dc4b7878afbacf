import { randomUUID } from 'node:crypto';
import type { Access } from '../kernel/access.ts';
import type { CallMove, NewEvent } from '../kernel/event.ts';
import type { InputSchema } from '../kernel/input-schema.ts';
import type { ApprovalRequest, ApprovalResponse } from '../kernel/ports.ts';
import { fail, isPromise } from '../kernel/result.ts';
import type { Tool } from '../kernel/tool.ts';
import type { CallScope } from './call-scope.ts';
import { digestOf } from './digest.ts';
import type { Ending } from './ending.ts';
import { Interruption, interruptible } from './interruption.ts';
import { record } from './record.ts';
import type { Runtime } from './runtime.ts';

interface Question {
  tool: Tool;
  access: readonly Access[];
  reason: string;
}

/** Asks the approver and waits. Only a plain yes goes on; everything else ends the call before it started. */
export async function askPerson(rt: Runtime, call: CallScope, question: Question): Promise<ApprovalResponse | Ending> {
  call.stage = 'approval';
  const { tool, reason } = question;
  if (rt.approver === undefined) {
    const next = 'Nobody can be asked here: give the executor an approver, or a policy that allows this call.';
    return denied(`${tool.name} needs approval: ${reason} ${next}`);
  }
  const request = requestFor(call, question);
  const { id: approvalId, args, digest } = request;
  await tell(rt, call, MOVE_TO_WAITING, 'approval.requested', { approvalId, tool: tool.name, args, reason, digest });

  const answer = await answerOf(rt, call, request);
  if (answer === 'expired') {
    await decide(rt, call, { approvalId, approved: false, by: null, message: 'expired' });
    const message = `Nobody answered the request to approve ${tool.name} in time, so it did not run. Ask again when somebody is there.`;
    return { state: 'expired', result: fail('APPROVAL_EXPIRED', message) };
  }
  const changed = answer.modifiedArgs && changedFields(tool, request.args, answer.modifiedArgs);
  const approved = answer.approved === true;
  await decide(rt, call, {
    approvalId,
    approved,
    by: answer.by ?? null,
    ...(answer.message !== undefined && { message: answer.message }),
    ...(changed && { changed }),
  });
  if (!approved) {
    return denied(
      `A person refused to run ${tool.name}${answer.message ? `: ${answer.message}` : '. Do not try it again unchanged.'}`,
    );
  }
  if (changed && changed.length > 0) {
    call.warnings.push(`The person who approved this changed ${changed.join(', ')} before it ran.`);
  }
  return answer;
}

function requestFor(call: CallScope, { tool, access, reason }: Question): ApprovalRequest {
  const args = call.args as Record<string, unknown>;
  return {
    id: randomUUID(),
    stepId: call.callId,
    session: call.session,
    tool: tool.name,
    args,
    reason,
    summary: tool.summary(args),
    access,
    digest: digestOf(tool.name, args),
  };
}

async function answerOf(rt: Runtime, call: CallScope, request: ApprovalRequest): Promise<ApprovalResponse | 'expired'> {
  const answer = rt.approver?.ask(request, call.signal);
  if (!isPromise(answer)) return answer ?? { approved: false };
  try {
    return await interruptible(answer, rt.approvalTimeoutMs, call.cancelSignal);
  } catch (thrown) {
    if (!(thrown instanceof Interruption)) throw thrown;
    call.abort('nobody waits for this answer any more');
    if (thrown.why === 'timeout') return 'expired';
    throw thrown;
  }
}

const MOVE_TO_WAITING: CallMove = { from: ['requested'], to: 'awaiting_approval' };

async function tell<T extends NewEvent['type']>(
  rt: Runtime,
  call: CallScope,
  move: CallMove,
  type: T,
  data: Extract<NewEvent, { type: T }>['data'],
): Promise<void> {
  await record(rt, call, move, { type, callId: call.callId, at: rt.clock.now(), data } as NewEvent);
}

async function decide(
  rt: Runtime,
  call: CallScope,
  data: Extract<NewEvent, { type: 'approval.decided' }>['data'],
): Promise<void> {
  const event = { type: 'approval.decided', callId: call.callId, at: rt.clock.now(), data } as const;
  for (const stored of await rt.store.append(call.session, [event])) rt.bus.emit(stored);
}

/** Compared as they would run, so that a default left out is no change. */
function changedFields(tool: Tool, before: Record<string, unknown>, edited: Record<string, unknown>): string[] {
  const checked = (tool.input as InputSchema<Record<string, unknown>>).check(edited);
  const after = checked.ok ? checked.value : edited;
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
}

function denied(message: string): Ending {
  return { state: 'denied', result: fail('APPROVAL_DENIED', message) };
}
