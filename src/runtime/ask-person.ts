import { randomUUID } from 'node:crypto';
import type { Access } from '../kernel/access.ts';
import { isPlainObject } from '../kernel/check-arguments.ts';
import { messageOf } from '../kernel/error.ts';
import type { CallMove, EventData } from '../kernel/event.ts';
import type { InputSchema } from '../kernel/input-schema.ts';
import type { ApprovalRequest } from '../kernel/ports.ts';
import { fail, isPromise } from '../kernel/result.ts';
import type { Tool } from '../kernel/tool.ts';
import { CallContext } from './call-context.ts';
import type { CallScope } from './call-scope.ts';
import { digestOf } from './digest.ts';
import { type Ending, ending } from './ending.ts';
import { Interruption, interruptible } from './interruption.ts';
import { record } from './record.ts';
import type { Runtime } from './runtime.ts';

interface Question {
  readonly tool: Tool;
  readonly input: unknown;
  readonly access: readonly Access[];
  readonly reason: string;
}

/** What an approver said, rebuilt from the fields we know: an answer of another shape cannot pass for anything else. */
interface Answer {
  readonly kind: 'answer';
  readonly approved: boolean;
  readonly modifiedArgs: Record<string, unknown> | undefined;
  readonly message: string | undefined;
  readonly by: string | null;
}

/** Asks the approver and waits. Only a plain yes goes on; everything else ends the call before it started. */
export async function askPerson(rt: Runtime, call: CallScope, question: Question): Promise<Answer | Ending> {
  const { tool, reason } = question;
  if (rt.approver === undefined) {
    const next = 'Nobody can be asked here: give the executor an approver, or a policy that allows this call.';
    return denied(`${tool.name} needs approval: ${reason} ${next}`);
  }
  const request = requestFor(call, question);
  const { id: approvalId, args, digest } = request;
  const data = { approvalId, tool: tool.name, args, reason, digest };
  const event = { type: 'approval.requested', callId: call.callId, at: rt.clock.now(), data } as const;
  await record(rt, call, MOVE_TO_WAITING, event);

  const answer = await answerOf(rt, call, request);
  if (answer === 'expired') {
    await decide(rt, call, { approvalId, approved: false, by: null, message: 'expired' });
    const message = `Nobody answered the request to approve ${tool.name} in time, so it did not run. Ask again when somebody is there.`;
    return ending('expired', fail('APPROVAL_EXPIRED', message));
  }
  const { approved, by, message, modifiedArgs } = answer;
  const changed = modifiedArgs && changedFields(tool, args, modifiedArgs);
  await decide(rt, call, {
    approvalId,
    approved,
    by,
    ...(message !== undefined && { message }),
    ...(changed && { changed }),
  });
  if (!approved)
    return denied(
      `A person refused to run ${tool.name}${message ? `: ${message}` : '. Do not try it again unchanged.'}`,
    );
  if (changed !== undefined && changed.length > 0) {
    call.warnings.push(`The person who approved this changed ${changed.join(', ')} before it ran.`);
  }
  return answer;
}

/** The arguments are the frozen copy that was made when they were validated: what is shown is what runs. */
function requestFor(call: CallScope, { tool, input, access, reason }: Question): ApprovalRequest {
  call.stage = 'definition';
  const args = call.args as Record<string, unknown>;
  return {
    id: randomUUID(),
    stepId: call.callId,
    session: call.session,
    tool: tool.name,
    args,
    reason,
    summary: tool.summary(input),
    access,
    digest: digestOf(tool.name, args),
  };
}

async function answerOf(rt: Runtime, call: CallScope, request: ApprovalRequest): Promise<Answer | 'expired'> {
  call.stage = 'approver';
  try {
    const asked = rt.approver?.ask(request, call.ctx.signal);
    return toAnswer(isPromise(asked) ? await interruptible(asked, rt.approvalTimeoutMs, call.cancelSignal) : asked);
  } catch (thrown) {
    if (!Interruption.is(thrown)) throw await undecided(rt, call, request, thrown);
    CallContext.abort(call.ctx, 'nobody waits for this answer any more');
    if (thrown.why === 'timeout') return 'expired';
    throw await undecided(rt, call, request, thrown);
  }
}

/** No question stays open: one that is dropped is recorded as a no. Returns what to throw. */
async function undecided(rt: Runtime, call: CallScope, { id }: ApprovalRequest, thrown: unknown): Promise<unknown> {
  const message = Interruption.is(thrown) ? 'cancelled' : `the approver failed: ${messageOf(thrown)}`;
  await decide(rt, call, { approvalId: id, approved: false, by: null, message });
  call.stage = 'approver';
  return thrown;
}

function toAnswer(given: unknown): Answer {
  const { approved, modifiedArgs, message, by } = isPlainObject(given) ? given : {};
  if (modifiedArgs != null && !isPlainObject(modifiedArgs)) throw new TypeError('modifiedArgs must be an object');
  return {
    kind: 'answer',
    approved: approved === true,
    modifiedArgs: modifiedArgs ?? undefined,
    message: typeof message === 'string' ? message : undefined,
    by: typeof by === 'string' ? by : null,
  };
}

const MOVE_TO_WAITING: CallMove = { from: ['requested'], to: 'awaiting_approval' };

async function decide(rt: Runtime, call: CallScope, data: EventData['approval.decided']): Promise<void> {
  call.stage = 'store';
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
  return ending('denied', fail('APPROVAL_DENIED', message));
}
