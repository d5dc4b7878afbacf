import { randomUUID } from 'node:crypto';
import type { ApprovalRecord } from '../../kernel/approval.ts';
import { changedFields } from '../../kernel/tool/changed-fields.ts';
import { isPlainObject } from '../../kernel/tool/check-arguments.ts';
import { messageOf } from '../../kernel/error.ts';
import type { CallMove, EventData } from '../../kernel/call/event.ts';
import { expiredFailure } from '../../kernel/call/expired-failure.ts';
import type { InputSchema } from '../../kernel/tool/input-schema.ts';
import type { ApprovalRequest } from '../../kernel/ports.ts';
import { fail, isPromise } from '../../kernel/result.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import { CallContext } from './call-context.ts';
import type { CallScope } from '../call-scope.ts';
import { type Ending, ending } from '../ending.ts';
import { Interruption, interruptible } from './interruption.ts';
import { record } from '../record.ts';
import type { Runtime } from '../runtime.ts';
import { type Judged, show } from './present-call.ts';

/** What an approver said, rebuilt from the fields we know: an answer of another shape cannot pass for anything else. */
interface Answer {
  readonly kind: 'answer';
  readonly approved: boolean;
  readonly modifiedArgs: Record<string, unknown> | undefined;
  readonly message: string | undefined;
  readonly by: string | null;
  /** The store has it already. */
  readonly recorded: boolean;
  readonly digest: string | undefined;
}

/** A yes, and the digest of what it was asked about: whether that still holds is looked at when the call's turn has come. */
type Agreement = Answer & { readonly asked: string };

/** Asks the approver and waits. Only a plain yes goes on; everything else ends the call before it started. */
export async function askPerson(rt: Runtime, call: CallScope, question: Judged): Promise<Agreement | Ending> {
  const { tool } = question;
  const { reason } = question.verdict;
  if (rt.approver === undefined) {
    const next = 'Nobody can be asked here: give the executor an approver, or a policy that allows this call.';
    return denied(`${tool.name} needs approval: ${reason} ${next}`);
  }
  const request = await requestFor(rt, call, question);
  const { id: approvalId, args, digest, shown } = request;
  const data = { approvalId, tool: tool.name, args, reason, digest, shown, ...(await deadline(rt)) };
  const event = { type: 'approval.requested', callId: call.callId, at: rt.clock.now(), data } as const;
  await record(rt, call, MOVE_TO_WAITING, event);

  const given = await answerOf(rt, call, request);
  const answer = given !== 'expired' && given.recorded ? given : await firstAnswer(rt, call, { tool, request, given });
  if (answer === undefined) return tooLate(tool);
  if (answer === 'expired' || isExpiry(answer)) return expired(rt, call, tool);
  const { approved, message, modifiedArgs } = answer;
  if (!approved) return refusal(tool, message);
  tellChanges(call, modifiedArgs && changedWhenRun(tool, args, modifiedArgs));
  return { ...answer, asked: digest };
}

interface Given {
  readonly tool: Tool;
  readonly request: ApprovalRequest;
  readonly given: Answer | 'expired';
}

/**
 * The one that counts: this, once the store has it, or a yes that somebody gave before, unless this is a no: nothing runs
 * that was refused by anybody. Undefined when this one comes too late.
 */
async function firstAnswer(
  rt: Runtime,
  call: CallScope,
  { tool, request, given }: Given,
): Promise<Answer | 'expired' | undefined> {
  const { id: approvalId, args } = request;
  const { approved, by, message, modifiedArgs, digest } = given === 'expired' ? EXPIRY : given;
  const changed = modifiedArgs && changedWhenRun(tool, args, modifiedArgs);
  // Whoever takes the call over has the edited arguments; where nobody was shown them, they are asked about again.
  const edit = changed && { args: modifiedArgs, changed, ...(digest !== undefined && { digest }) };
  const more = { ...(message !== undefined && { message }), ...edit };
  if (await decide(rt, call, { approvalId, approved, by, ...more })) return given;
  const before = await rt.store.approvalOf?.(call.callId);
  const first = before?.id === approvalId ? toFirst(before) : undefined;
  if (given === 'expired') return first ?? given;
  return approved && first?.approved ? first : undefined;
}

function toFirst({ state, decidedBy: by, message, edited }: ApprovalRecord): Answer | undefined {
  if (state === 'pending' || state === 'superseded') return undefined;
  const { args: modifiedArgs, digest } = edited ?? {};
  return toAnswer({ approved: state === 'approved', by, message, modifiedArgs, digest, recorded: true });
}

const EXPIRY = { approved: false, by: null, message: 'expired', modifiedArgs: undefined, digest: undefined };

function isExpiry({ recorded, approved, by, message }: Answer): boolean {
  return recorded && !approved && by === EXPIRY.by && message === EXPIRY.message;
}

/** The model is told which of its arguments a person changed. */
export function tellChanges(call: CallScope, changed: readonly string[] = []): void {
  if (changed.length === 0) return;
  call.warnings.push(`The person who approved this changed ${changed.join(', ')} before it ran.`);
}

/** What runs is what was shown, or what a rule allowed; or it does not run. */
export function changedSince({ name }: Tool): Ending {
  const next = 'Look at it again, then ask again.';
  return denied(`${name}, or what it would touch, has changed since it was agreed to, so it did not run. ${next}`);
}

/** An answer other than yes that came before the process that asked ended. */
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

/** Whoever looks after the store may have ended the question and the call already: then there is nothing to record. */
async function expired(rt: Runtime, call: CallScope, tool: Tool): Promise<Ending> {
  CallContext.abort(call.ctx, NOBODY_WAITS);
  if ((await rt.store.call(call.callId))?.state === 'expired') call.recorded = false;
  return tooLong(tool);
}

const NOBODY_WAITS = 'nobody waits for this answer any more';

/** The arguments are the frozen copy that was made when they were validated: what is shown is what runs. */
async function requestFor(rt: Runtime, call: CallScope, question: Judged): Promise<ApprovalRequest> {
  const { shown, digest } = await show(rt, call, question);
  return {
    id: randomUUID(),
    stepId: call.callId,
    session: call.session,
    tool: question.tool.name,
    args: call.args as Record<string, unknown>,
    reason: question.verdict.reason,
    summary: shown.summary,
    access: question.access,
    digest,
    shown,
  };
}

async function answerOf(rt: Runtime, call: CallScope, request: ApprovalRequest): Promise<Answer | 'expired'> {
  call.stage = 'approver';
  const asking = new AbortController();
  try {
    const asked = rt.approver?.ask(request, AbortSignal.any([call.ctx.signal, asking.signal]));
    return toAnswer(isPromise(asked) ? await interruptible(asked, rt.approvalTimeoutMs, call.cancelSignal) : asked);
  } catch (thrown) {
    if (!Interruption.is(thrown)) throw await undecided(rt, call, request, thrown);
    asking.abort(NOBODY_WAITS);
    // Somebody may have said yes just before: then the call goes on.
    if (thrown.why === 'timeout') return 'expired';
    CallContext.abort(call.ctx, NOBODY_WAITS);
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

/** False when the decision does not count, as somebody decided before. */
async function decide(rt: Runtime, call: CallScope, data: EventData['approval.decided']): Promise<boolean> {
  call.stage = 'store';
  const event = { type: 'approval.decided', callId: call.callId, at: rt.clock.now(), data } as const;
  const [stored] =
    rt.store.decide === undefined ? await rt.store.append(call.session, [event]) : [await rt.store.decide(event)];
  if (stored == null) return false;
  rt.bus.emit(stored);
  return true;
}

/** By the store's clock, so that whoever looks after the store can end the question when this process no longer can. */
async function deadline({ store, clock, approvalTimeoutMs }: Runtime): Promise<{ expiresAt?: number }> {
  if (approvalTimeoutMs === undefined) return {};
  const now = store.now === undefined ? clock.now() : await store.now();
  return { expiresAt: now + approvalTimeoutMs };
}

/** Compared as they would run, so that a default left out is no change. */
function changedWhenRun(tool: Tool, before: Record<string, unknown>, edited: Record<string, unknown>): string[] {
  const checked = (tool.input as InputSchema<Record<string, unknown>>).check(edited);
  return changedFields(before, checked.ok ? checked.value : edited);
}

function tooLate({ name }: Tool): Ending {
  return denied(
    `The request to approve ${name} was answered elsewhere, or its time was over, before this answer came.`,
  );
}

function denied(message: string): Ending {
  return ending('denied', fail('APPROVAL_DENIED', message));
}
