import { randomUUID } from 'node:crypto';
import {
  type ApprovalRecord,
  EXPIRED_DECISION,
  type PresentedCall,
  stateOfDecision,
  WITHDRAWN_DECISION,
} from '../../kernel/call/approval.ts';
import type { CallMove, EventData } from '../../kernel/call/event.ts';
import { expiredFailure } from '../../kernel/call/expired-failure.ts';
import { messageOf } from '../../kernel/error.ts';
import type { ApprovalRequest } from '../../kernel/ports.ts';
import { fail, isPromise } from '../../kernel/result.ts';
import { visible } from '../../kernel/text/visible.ts';
import { changedFields } from '../../kernel/tool/changed-fields.ts';
import { isPlainObject } from '../../kernel/tool/check-arguments.ts';
import type { InputSchema } from '../../kernel/tool/input-schema.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import type { Runtime } from '../runtime.ts';
import { CallContext } from './call-context.ts';
import type { CallScope } from './call-scope.ts';
import { type Ending, ending } from './call-scope.ts';
import { Interruption, interruptible } from './interruption.ts';
import type { PlannedCall } from './judge-call.ts';
import { presentCall } from './present-call.ts';
import { record } from './record.ts';

/** The answer of an approver, rebuilt from known fields, so that an answer of another shape has no effect. */
interface ApproverAnswer {
  readonly kind: 'answer';
  readonly approved: boolean;
  readonly modifiedArgs: Record<string, unknown> | undefined;
  readonly message: string | undefined;
  readonly by: string | null;
  /** True when the store has it already. */
  readonly recorded: boolean;
  readonly digest: string | undefined;
}

/** An approval with what was shown and its digest, which is compared again when the call's turn comes. */
type ApprovedAnswer = ApproverAnswer & { readonly asked: string; readonly shown: PresentedCall };

/** Asks the approver and waits. Every answer but a plain approval ends the call before it starts. */
export async function askPerson(rt: Runtime, call: CallScope, question: PlannedCall): Promise<ApprovedAnswer | Ending> {
  const { tool } = question;
  const reason = visible(question.verdict.reason);
  if (rt.approver === undefined) {
    const next = 'There is no approver here: give the executor one, or a policy that allows this call.';
    return denied(`${tool.name} needs approval: ${reason} ${next}`);
  }
  const request = await requestFor(call, question);
  const { id: approvalId, args, digest, shown } = request;
  const data = { approvalId, tool: tool.name, args, reason, digest, shown, ...(await deadline(rt)) };
  const event = { type: 'approval.requested', callId: call.callId, at: rt.clock.now(), data } as const;
  await record(rt, call, MOVE_TO_WAITING, event);

  const given = await answerOf(rt, call, request);
  const answer =
    given !== 'expired' && given.recorded ? given : await decidingAnswer(rt, call, { tool, request, given });
  if (answer === undefined) return tooLate(tool);
  if (answer === 'expired' || isExpiry(answer)) return expired(rt, call, tool);
  const { approved, message, modifiedArgs } = answer;
  if (!approved) return refusal(tool, message);
  noteChanges(call, modifiedArgs && changedWhenRun(tool, args, modifiedArgs));
  return { ...answer, asked: digest, shown };
}

interface ReceivedAnswer {
  readonly tool: Tool;
  readonly request: ApprovalRequest;
  readonly given: ApproverAnswer | 'expired';
}

/**
 * Returns the answer that counts: the given one once the store has it, or an approval recorded before it. If the given
 * one is a refusal that comes second, the result is undefined: a call that anybody refused does not run.
 */
async function decidingAnswer(
  rt: Runtime,
  call: CallScope,
  { tool, request, given }: ReceivedAnswer,
): Promise<ApproverAnswer | 'expired' | undefined> {
  const { id: approvalId, args } = request;
  const { approved, by, message, modifiedArgs, digest } = given === 'expired' ? EXPIRY : given;
  const changed = modifiedArgs && changedWhenRun(tool, args, modifiedArgs);
  // A process that takes the call over has the edited arguments, and asks again if nobody was shown them.
  const edit = changed && { args: modifiedArgs, changed, ...(digest !== undefined && { digest }) };
  const more = { ...(message !== undefined && { message }), ...edit };
  if (await recordDecision(rt, call, { approvalId, approved, by, ...more })) return given;
  const before = await rt.store.approvalOf?.(call.callId);
  const first = before?.id === approvalId ? toRecordedAnswer(before) : undefined;
  if (given === 'expired') return first ?? given;
  return approved && first?.approved ? first : undefined;
}

function toRecordedAnswer({ state, decidedBy: by, message, edited }: ApprovalRecord): ApproverAnswer | undefined {
  if (state === 'pending' || state === 'superseded') return undefined;
  const { args: modifiedArgs, digest } = edited ?? {};
  return toAnswer({ approved: state === 'approved', by, message, modifiedArgs, digest, recorded: true });
}

const EXPIRY = { ...EXPIRED_DECISION, modifiedArgs: undefined, digest: undefined };

function isExpiry(answer: ApproverAnswer): boolean {
  return answer.recorded && stateOfDecision(answer) === 'expired';
}

/** Notes for the model which of its arguments a person changed. */
export function noteChanges(call: CallScope, changed: readonly string[] = []): void {
  if (changed.length === 0) return;
  call.warnings.push(`The person who approved this changed ${changed.join(', ')} before it ran.`);
}

/** The ending of a call that is no longer the one that was approved or allowed. Files that differ are a conflict: nobody refused it. */
export function changedSince({ tool, derived }: Pick<PlannedCall, 'tool'> & Partial<PlannedCall>): Ending {
  const next = 'Read it again, then repeat the call.';
  const message = `${tool.name} or a file it would touch has changed since approval, so it did not run. ${next}`;
  const { changes, staged } = derived?.plan ?? {};
  const hasFiles = changes !== undefined || staged !== undefined;
  return hasFiles ? ending('denied', fail('CONFLICT', message)) : denied(message);
}

/** The ending for a refusal or expiry that was recorded before the asking process ended. */
export function refusedEarlier(tool: Tool, { state, message }: ApprovalRecord): Ending {
  return state === 'expired' ? tooLong(tool) : refusal(tool, message ?? undefined);
}

function refusal({ name }: Tool, message: string | undefined): Ending {
  const why = message ? `: ${message}` : '. Do not try it again unchanged.';
  return denied(`A person refused to run ${name}${why}`);
}

function tooLong({ name }: Tool): Ending {
  return ending('expired', { ok: false, error: expiredFailure(name) });
}

/** Upkeep of the store may have ended the question and the call already: then there is nothing to record. */
async function expired(rt: Runtime, call: CallScope, tool: Tool): Promise<Ending> {
  CallContext.abort(call.ctx, QUESTION_CLOSED);
  if ((await rt.store.call(call.callId))?.state === 'expired') call.recorded = false;
  return tooLong(tool);
}

const QUESTION_CLOSED = 'nobody waits for this answer any more';

/** Uses the frozen copy made at validation: the arguments shown are the arguments that run. */
async function requestFor(call: CallScope, question: PlannedCall): Promise<ApprovalRequest> {
  const { shown, digest } = await presentCall(call, question);
  const outer = outermost(call);
  return {
    id: randomUUID(),
    stepId: call.callId,
    ...(outer !== call && { outerCall: outer.callId }),
    session: call.session,
    tool: question.tool.name,
    args: call.args as Record<string, unknown>,
    reason: visible(question.verdict.reason),
    summary: shown.summary,
    access: question.subject.access,
    digest,
    shown,
  };
}

function outermost(call: CallScope): CallScope {
  let outer = call;
  while (outer.request.parent !== undefined) outer = outer.request.parent;
  return outer;
}

async function answerOf(rt: Runtime, call: CallScope, request: ApprovalRequest): Promise<ApproverAnswer | 'expired'> {
  call.stage = 'approver';
  const asking = new AbortController();
  try {
    const asked = rt.approver?.ask(request, AbortSignal.any([call.ctx.signal, asking.signal]));
    return toAnswer(isPromise(asked) ? await interruptible(asked, rt.approvalTimeoutMs, call.cancelSignal) : asked);
  } catch (thrown) {
    if (!Interruption.is(thrown)) throw await closeQuestion(rt, call, { id: request.id, thrown });
    asking.abort(QUESTION_CLOSED);
    // An approval may have come just before: then the call continues.
    if (thrown.why === 'timeout') return 'expired';
    CallContext.abort(call.ctx, QUESTION_CLOSED);
    throw await closeQuestion(rt, call, { id: request.id, thrown });
  }
}

/** Records a dropped question as a refusal, so that none stays open. Returns the error to throw. */
async function closeQuestion(
  rt: Runtime,
  call: CallScope,
  { id, thrown }: { id: string; thrown: unknown },
): Promise<unknown> {
  const decision = Interruption.is(thrown)
    ? WITHDRAWN_DECISION
    : { approved: false, by: null, message: `the approver failed: ${messageOf(thrown)}` };
  await recordDecision(rt, call, { approvalId: id, ...decision });
  call.stage = 'approver';
  return thrown;
}

function toAnswer(given: unknown): ApproverAnswer {
  const { approved, modifiedArgs, message, by, recorded, digest } = isPlainObject(given) ? given : {};
  if (modifiedArgs != null && !isPlainObject(modifiedArgs)) throw new TypeError('modifiedArgs must be an object');
  return {
    kind: 'answer',
    approved: approved === true,
    modifiedArgs: modifiedArgs ?? undefined,
    message: typeof message === 'string' ? message : undefined,
    by: typeof by === 'string' ? by : null,
    recorded: recorded === true,
    digest: typeof digest === 'string' ? digest : undefined,
  };
}

const MOVE_TO_WAITING: CallMove = { from: ['requested'], to: 'awaiting_approval' };

/** Returns false when another decision was recorded before. */
async function recordDecision(rt: Runtime, call: CallScope, data: EventData['approval.decided']): Promise<boolean> {
  call.stage = 'store';
  const event = { type: 'approval.decided', callId: call.callId, at: rt.clock.now(), data } as const;
  const [stored] =
    rt.store.decide === undefined ? await rt.store.append(call.session, [event]) : [await rt.store.decide(event)];
  if (stored == null) return false;
  rt.bus.emit(stored);
  return true;
}

/** The deadline by the clock of the store, so that its upkeep can end the question when this process cannot. */
async function deadline({ store, clock, approvalTimeoutMs }: Runtime): Promise<{ expiresAt?: number }> {
  if (approvalTimeoutMs === undefined) return {};
  const now = store.now === undefined ? clock.now() : await store.now();
  return { expiresAt: now + approvalTimeoutMs };
}

/** Compares arguments as they would run, so that an omitted default is no change. */
function changedWhenRun(tool: Tool, before: Record<string, unknown>, edited: Record<string, unknown>): string[] {
  const checked = (tool.input as InputSchema<Record<string, unknown>>).check(edited);
  return changedFields(before, checked.ok ? checked.value : edited);
}

function tooLate({ name }: Tool): Ending {
  return denied(`The request to approve ${name} was answered elsewhere or expired before this answer came.`);
}

function denied(message: string): Ending {
  return ending('denied', fail('APPROVAL_DENIED', message));
}
