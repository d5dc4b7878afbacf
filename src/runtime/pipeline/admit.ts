import { type Access, UNKNOWN_ACCESS } from '../../kernel/tool/access.ts';
import type { ApprovalRecord } from '../../kernel/approval.ts';
import type { InputSchema, Issue } from '../../kernel/tool/input-schema.ts';
import { frozenCopy } from '../../kernel/plain-copy.ts';
import type { Subject, Verdict } from '../../kernel/ports.ts';
import { fail, isPromise, type MaybePromise, type Result } from '../../kernel/result.ts';
import type { OwnReason, Tool } from '../../kernel/tool/tool.ts';
import { applyHooks } from '../apply-hooks.ts';
import { askPerson, changedSince, refusedEarlier, tellChanges } from './ask-person.ts';
import type { CallScope } from '../call-scope.ts';
import { earlierAnswer } from '../earlier-answer.ts';
import { type Ending, ending } from '../ending.ts';
import { realPlaces } from './resolve-symlinks.ts';
import { redacted } from '../redact.ts';
import type { Runtime } from '../runtime.ts';
import { bind } from './present-call.ts';

/** A call that may run: exactly this input, touching exactly this. */
export interface Admitted {
  readonly kind: 'admitted';
  readonly tool: Tool;
  readonly input: unknown;
  readonly access: readonly Access[];
  /** Why a person would be asked, if they would; only a dry run gets here with one unanswered. */
  readonly wouldAsk: string | undefined;
  /** What a person agreed to. It may have to wait for other calls, so it is looked at again when its turn has come. */
  readonly agreed?: string;
}

/**
 * validate → hooks → access → policy → approval. Touches nothing outside; says no with an Ending. Answers at once where
 * nothing has to be waited for, as with most calls.
 */
export function admit(rt: Runtime, call: CallScope, found: Result<Tool>): MaybePromise<Admitted | Ending> {
  if (!found.ok) return unknown(found);
  const tool = found.value;
  logStart(rt, call);
  if (call.request.resume !== undefined) return admitResumed(rt, call, tool);
  const proposed = propose(rt, call, tool, call.args);
  if (isPromise(proposed)) return proposed.then((proposal) => admitProposed(rt, call, tool, proposal));
  return admitProposed(rt, call, tool, proposed);
}

function admitProposed(
  rt: Runtime,
  call: CallScope,
  tool: Tool,
  proposal: Proposal | Ending,
): MaybePromise<Admitted | Ending> {
  if (proposal.kind === 'ending') return proposal;
  if (proposal.verdict.verdict === 'deny') return refused(proposal.verdict);
  return proposal.verdict.verdict === 'allow' ? admitted(tool, proposal) : ask(rt, call, tool, proposal);
}

async function admitResumed(rt: Runtime, call: CallScope, tool: Tool): Promise<Admitted | Ending> {
  const earlier = await earlierAnswer(rt, call);
  if (earlier !== undefined && earlier.state !== 'approved') return refusedEarlier(tool, earlier);
  const args = earlier?.edited == null ? call.args : frozenCopy(earlier.edited.args);
  const proposal = await propose(rt, call, tool, args);
  if (earlier === undefined || proposal.kind === 'ending') return admitProposed(rt, call, tool, proposal);
  if (proposal.verdict.verdict === 'deny') return refused(proposal.verdict);
  return admitEarlier(rt, call, { tool, proposal, earlier });
}

async function ask(rt: Runtime, call: CallScope, tool: Tool, proposal: Proposal): Promise<Admitted | Ending> {
  const { access, verdict } = proposal;
  if (call.context.dryRun) return admitted(tool, proposal, verdict.reason);
  const answer = await askPerson(rt, call, { tool, input: proposal.input, access, verdict });
  if (answer.kind === 'ending') return answer;
  if (answer.modifiedArgs === undefined) return { ...admitted(tool, proposal), agreed: answer.asked };

  // Edited arguments are a new proposal and go the whole way again. The person's yes covers «ask», never «deny».
  const edited = await propose(rt, call, tool, frozenCopy(answer.modifiedArgs), 'The edited arguments do not fit: ');
  if (edited.kind === 'ending') return edited;
  if (edited.verdict.verdict === 'deny') return refused(edited.verdict);
  const { digest } = await bind(rt, call, { tool, access: edited.access });
  if (answer.digest !== undefined && answer.digest !== digest) return changedSince(tool);
  return { ...admitted(tool, edited), agreed: digest };
}

/** A yes that was given before its process ended. It is for what was shown then, and for nothing else. */
async function admitEarlier(
  rt: Runtime,
  call: CallScope,
  { tool, proposal, earlier }: { tool: Tool; proposal: Proposal; earlier: ApprovalRecord },
): Promise<Admitted | Ending> {
  const { digest } = await bind(rt, call, { tool, access: proposal.access });
  if (digest !== (earlier.edited?.digest ?? earlier.digest)) return changedSince(tool);
  tellChanges(call, earlier.edited?.changed);
  return { ...admitted(tool, proposal), agreed: digest };
}

/** Whether what was decided about a call may not hold any more, now that its turn has come. */
export function isStale(rt: Runtime, call: CallScope, { agreed, tool }: Admitted): boolean {
  if (agreed !== undefined || call.judgedAfter !== rt.locks.changes) return true;
  return tool.version !== undefined && isRedefined(tool, findAgain(rt, call));
}

/**
 * Judges it again: rules, switches, files and the tool itself may have changed since. Gives the same back where it still
 * may run. What a person agreed to does not run when it is not that any more; what nobody was asked about may have to be
 * asked about now, and after that it has to wait its turn again.
 */
export async function confirm(rt: Runtime, call: CallScope, admitted: Admitted): Promise<Admitted | Ending> {
  const { tool, input, agreed } = admitted;
  const found = findAgain(rt, call);
  if (found?.ok === false) return unknown(found);
  if (isRedefined(tool, found)) return changedSince(tool);
  const now = await judge(rt, call, tool, input);
  if (now.kind === 'ending') return now;
  if (now.verdict.verdict === 'deny') return refused(now.verdict);
  if (agreed !== undefined) {
    const { digest } = await bind(rt, call, { tool, access: now.access });
    return digest === agreed ? admitted : changedSince(tool);
  }
  if (now.verdict.verdict === 'allow' || isBoundToFail(admitted.access, now.access)) return admitted;
  if (call.ticket !== undefined) rt.locks.release(call.ticket);
  return ask(rt, call, tool, now);
}

/** Undefined for a tool that was given as itself, not by its name. */
function findAgain(rt: Runtime, { request: { tool } }: CallScope): Result<Tool> | undefined {
  return typeof tool === 'string' ? rt.find(tool) : undefined;
}

function isRedefined({ version }: Tool, found: Result<Tool> | undefined): boolean {
  return found?.ok === true && found.value.version !== version;
}

/** A file that was to be new and is there by now is refused by the write itself: nobody is asked about what cannot happen. */
function isBoundToFail([before, ...more]: readonly Access[], [now]: readonly Access[]): boolean {
  if (before?.kind !== 'fs.write' || now?.kind !== 'fs.write' || more.length > 0) return false;
  return before.path === now.path && before.expect === 'absent' && now.expect === undefined;
}

/** Valid arguments that no hook vetoed, and what policy says of them. */
export interface Proposal {
  readonly kind: 'proposal';
  readonly input: unknown;
  readonly access: readonly Access[];
  readonly verdict: Verdict;
  /** What policy was asked about. */
  readonly subject: Subject;
}

function admitted(tool: Tool, { input, access, verdict }: Proposal, wouldAsk?: string): Admitted {
  return { kind: 'admitted', tool, input, access: verdict.access ?? access, wouldAsk };
}

export function propose(
  rt: Runtime,
  call: CallScope,
  tool: Tool,
  args: unknown,
  prefix = '',
): MaybePromise<Proposal | Ending> {
  const given = validate(tool, call, args);
  if (given.kind === 'ending') return prefix === '' ? given : ending('failed', prefixed(prefix, given.result));
  return rt.hooks.length === 0 ? judge(rt, call, tool, given.input) : proposeHooked(rt, call, tool, given.input);
}

async function proposeHooked(rt: Runtime, call: CallScope, tool: Tool, given: unknown): Promise<Proposal | Ending> {
  let input = given;
  const refused = await applyHooks(rt.hooks, call, (args) => {
    const changed = validate(tool, call, frozenCopy(args));
    if (changed.kind === 'valid') input = changed.input;
    return changed.kind === 'valid' ? undefined : changed;
  });
  return refused ?? judge(rt, call, tool, input);
}

/** What people, hooks and the record are shown from now on is a frozen copy of what runs. */
function validate(tool: Tool, call: CallScope, args: unknown): { kind: 'valid'; input: unknown } | Ending {
  call.stage = 'definition';
  const checked = (tool.input as InputSchema).check(args);
  if (checked.warnings.length > 0) call.warnings.push(...checked.warnings);
  if (!checked.ok) return invalid(checked.issues);
  call.args = frozenCopy(checked.value);
  return { kind: 'valid', input: checked.value };
}

function judge(rt: Runtime, call: CallScope, tool: Tool, input: unknown): MaybePromise<Proposal | Ending> {
  call.stage = 'definition';
  call.judgedAfter = rt.locks.changes;
  const access = tool.access?.(input, call.ctx) ?? UNKNOWN_ACCESS;
  const own = tool.approval?.(input, call.ctx);
  if (isPromise(access) || isPromise(own)) return judgeLater(rt, call, tool, input, access, own);
  return decide(rt, call, tool, input, access, own);
}

async function judgeLater(
  rt: Runtime,
  call: CallScope,
  tool: Tool,
  input: unknown,
  access: MaybePromise<readonly Access[]>,
  own: MaybePromise<OwnReason | undefined>,
): Promise<Proposal | Ending> {
  const [known, reason] = await Promise.all([call.bounded(access), call.bounded(own)]);
  return decide(rt, call, tool, input, known ?? UNKNOWN_ACCESS, reason);
}

function decide(
  rt: Runtime,
  call: CallScope,
  tool: Tool,
  input: unknown,
  access: readonly Access[],
  own: OwnReason | undefined,
): MaybePromise<Proposal | Ending> {
  call.request.turn?.declare(access);
  const wantsPlaces = call.request.isReview === true || rt.policy.wantsPlaces?.(tool.name) === true;
  const places = wantsPlaces ? realPlaces(access, call.ctx.files) : undefined;
  call.stage = 'policy';
  const subject: Subject = {
    tool: tool.name,
    args: call.args,
    access,
    effect: tool.effect,
    ownReason: typeof own === 'object' ? own.reason : own,
    asksAlways: typeof own === 'object',
    ...(places !== undefined && { places }),
    context: call.context,
  };
  const verdict = call.bounded(rt.policy.decide(subject));
  return isPromise(verdict) ? verdict.then((late) => judged(late, input, subject)) : judged(verdict, input, subject);
}

function judged(verdict: Verdict, input: unknown, subject: Subject): Proposal {
  const known = verdict.verdict === 'allow' || verdict.verdict === 'ask';
  const { access } = subject;
  return { kind: 'proposal', input, access, verdict: known ? verdict : { ...verdict, verdict: 'deny' }, subject };
}

function refused({ reason, rule }: Verdict): Ending {
  return ending('denied', fail('PERMISSION_DENIED', reason, { rule }));
}

const MOST_ISSUES = 20;

/** The program gets the first sentence; the model reads them all, so that it mends them at once. */
function invalid(issues: readonly [Issue, ...Issue[]]): Ending {
  const shown = issues.slice(0, MOST_ISSUES);
  const text = `Error: ${shown.map(({ message }) => message).join('; ')}`;
  return ending('failed', fail('INVALID_INPUT', issues[0].message, { issues: shown }), text);
}

function unknown(result: Extract<Result<Tool>, { ok: false }>): Ending {
  const { message, details } = result.error;
  const suggestions = (details?.suggestions ?? []) as readonly string[];
  const hint = suggestions.length > 0 ? `Error: ${message}. Did you mean ${suggestions.join(' or ')}?` : undefined;
  return ending('failed', result, hint);
}

function prefixed(prefix: string, result: Result<unknown>): Result<unknown> {
  return result.ok ? result : { ...result, error: { ...result.error, message: `${prefix}${result.error.message}` } };
}

function logStart(rt: Runtime, { callId, toolName: tool, args }: CallScope): void {
  if (rt.log.isLevelEnabled('info')) rt.log.info({ callId, tool }, `Executing tool: ${tool}`);
  if (!rt.log.isLevelEnabled('debug')) return;
  rt.log.debug({ callId, tool, params: redacted(rt.hider.hideArgs(args)) }, `Parameters of tool: ${tool}`);
}
