import type { ApprovalRecord } from '../../kernel/call/approval.ts';
import { frozenCopy } from '../../kernel/plain-copy.ts';
import type { Subject, Verdict } from '../../kernel/ports.ts';
import { fail, isPromise, type MaybePromise, type Result } from '../../kernel/result.ts';
import { type Access, UNKNOWN_ACCESS } from '../../kernel/tool/access.ts';
import type { InputSchema, Issue } from '../../kernel/tool/input-schema.ts';
import type { OwnReason, Tool } from '../../kernel/tool/tool.ts';
import { hideInLog } from '../../secrets/hide-in-logs.ts';
import { earlierAnswer } from '../resume/resume.ts';
import type { Runtime } from '../runtime.ts';
import { askPerson, changedSince, noteChanges, refusedEarlier } from './ask-person.ts';
import type { CallScope } from './call-scope.ts';
import { type Ending, ending } from './call-scope.ts';
import { digestCall } from './present-call.ts';
import { resolveSymlinks } from './resolve-symlinks.ts';
import { runBeforeHooks } from './run-hooks.ts';

/** A call that may run, with exactly this input and this access. */
export interface AdmittedCall {
  readonly kind: 'admitted';
  readonly tool: Tool;
  readonly input: unknown;
  readonly access: readonly Access[];
  /** Why the call would need approval. Set only for a dry run, which is admitted without one. */
  readonly wouldAsk: string | undefined;
  /**
   * The digest that a person approved. It is compared again when the call's turn comes, because it may wait for others.
   */
  readonly approvedDigest?: string;
}

/**
 * validate → hooks → access → policy → approval. Has no effects outside; returns an Ending for a refusal. Returns
 * synchronously where nothing has to be awaited, as for most calls.
 */
export function admit(rt: Runtime, call: CallScope, found: Result<Tool>): MaybePromise<AdmittedCall | Ending> {
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
): MaybePromise<AdmittedCall | Ending> {
  if (proposal.kind === 'ending') return proposal;
  if (proposal.verdict.verdict === 'deny') return refused(proposal.verdict);
  return proposal.verdict.verdict === 'allow' ? admitted(tool, proposal) : ask(rt, call, tool, proposal);
}

async function admitResumed(rt: Runtime, call: CallScope, tool: Tool): Promise<AdmittedCall | Ending> {
  const earlier = await earlierAnswer(rt, call);
  if (earlier !== undefined && earlier.state !== 'approved') return refusedEarlier(tool, earlier);
  const args = earlier?.edited == null ? call.args : frozenCopy(earlier.edited.args);
  const proposal = await propose(rt, call, tool, args);
  if (earlier === undefined || proposal.kind === 'ending') return admitProposed(rt, call, tool, proposal);
  if (proposal.verdict.verdict === 'deny') return refused(proposal.verdict);
  return admitEarlier(rt, call, { tool, proposal, earlier });
}

async function ask(rt: Runtime, call: CallScope, tool: Tool, proposal: Proposal): Promise<AdmittedCall | Ending> {
  const { access, verdict } = proposal;
  if (call.context.dryRun) return admitted(tool, proposal, verdict.reason);
  const answer = await askPerson(rt, call, { tool, input: proposal.input, access, verdict });
  if (answer.kind === 'ending') return answer;
  if (answer.modifiedArgs === undefined) return { ...admitted(tool, proposal), approvedDigest: answer.asked };

  // Edited arguments are a new proposal, judged from the start. The approval covers a verdict "ask", never "deny".
  const edited = await propose(rt, call, tool, frozenCopy(answer.modifiedArgs), 'The edited arguments are invalid: ');
  if (edited.kind === 'ending') return edited;
  if (edited.verdict.verdict === 'deny') return refused(edited.verdict);
  const { digest } = await digestCall(rt, call, { tool, access: edited.access });
  if (answer.digest !== undefined && answer.digest !== digest) return changedSince(tool);
  return { ...admitted(tool, edited), approvedDigest: digest };
}

/** Applies an approval given before its process ended. It covers exactly the call that was shown then. */
async function admitEarlier(
  rt: Runtime,
  call: CallScope,
  { tool, proposal, earlier }: { tool: Tool; proposal: Proposal; earlier: ApprovalRecord },
): Promise<AdmittedCall | Ending> {
  const { digest } = await digestCall(rt, call, { tool, access: proposal.access });
  if (digest !== (earlier.edited?.digest ?? earlier.digest)) return changedSince(tool);
  noteChanges(call, earlier.edited?.changed);
  return { ...admitted(tool, proposal), approvedDigest: digest };
}

/** Returns whether the decision about a call may be outdated when its turn comes. */
export function isStale(rt: Runtime, call: CallScope, { approvedDigest: agreed, tool }: AdmittedCall): boolean {
  if (agreed !== undefined || call.judgedAfter !== rt.locks.changes) return true;
  return tool.version !== undefined && isRedefined(tool, findAgain(rt, call));
}

/**
 * Judges a call again, because rules, switches, files and the tool itself may have changed. Returns the same object if
 * it may still run. An approved call does not run if its digest changed; a call that needed no approval may need one
 * now, and waits for its turn again afterwards.
 */
export async function judgeAgain(rt: Runtime, call: CallScope, admitted: AdmittedCall): Promise<AdmittedCall | Ending> {
  const { tool, input, approvedDigest: agreed } = admitted;
  const found = findAgain(rt, call);
  if (found?.ok === false) return unknown(found);
  if (isRedefined(tool, found)) return changedSince(tool);
  const now = await judge(rt, call, tool, input);
  if (now.kind === 'ending') return now;
  if (now.verdict.verdict === 'deny') return refused(now.verdict);
  if (agreed !== undefined) {
    const { digest } = await digestCall(rt, call, { tool, access: now.access });
    return digest === agreed ? admitted : changedSince(tool);
  }
  if (now.verdict.verdict === 'allow' || isCertainToFail(admitted.access, now.access)) return admitted;
  if (call.ticket !== undefined) rt.locks.release(call.ticket);
  return ask(rt, call, tool, now);
}

/** Returns undefined for a tool that was passed as an object instead of a name. */
function findAgain(rt: Runtime, { request: { tool } }: CallScope): Result<Tool> | undefined {
  return typeof tool === 'string' ? rt.find(tool) : undefined;
}

function isRedefined({ version }: Tool, found: Result<Tool> | undefined): boolean {
  return found?.ok === true && found.value.version !== version;
}

/** Returns true for creating a file that exists by now: the write itself refuses that, so no person has to be asked. */
function isCertainToFail([before, ...more]: readonly Access[], [now]: readonly Access[]): boolean {
  if (before?.kind !== 'fs.write' || now?.kind !== 'fs.write' || more.length > 0) return false;
  return before.path === now.path && before.expect === 'absent' && now.expect === undefined;
}

/** Valid arguments that passed the hooks, with the verdict of policy. */
export interface Proposal {
  readonly kind: 'proposal';
  readonly input: unknown;
  readonly access: readonly Access[];
  readonly verdict: Verdict;
  /** The subject that policy judged. */
  readonly subject: Subject;
}

function admitted(tool: Tool, { input, access, verdict }: Proposal, wouldAsk?: string): AdmittedCall {
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
  const refused = await runBeforeHooks(rt.hooks, call, (args) => {
    const changed = validate(tool, call, frozenCopy(args));
    if (changed.kind === 'valid') input = changed.input;
    return changed.kind === 'valid' ? undefined : changed;
  });
  return refused ?? judge(rt, call, tool, input);
}

/** Sets `call.args`, which people, hooks and the record get from now on, to a frozen copy of the input that runs. */
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
  return askPolicy(rt, call, tool, input, access, own);
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
  return askPolicy(rt, call, tool, input, known ?? UNKNOWN_ACCESS, reason);
}

function askPolicy(
  rt: Runtime,
  call: CallScope,
  tool: Tool,
  input: unknown,
  access: readonly Access[],
  own: OwnReason | undefined,
): MaybePromise<Proposal | Ending> {
  call.request.turn?.declare(access);
  const wantsPlaces = call.request.isReview === true || rt.policy.wantsPlaces?.(tool.name) === true;
  const places = wantsPlaces ? resolveSymlinks(access, call.ctx.files) : undefined;
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

const MAX_ISSUES = 20;

/** The error holds the first issue; the model reads all of them, so that it can correct them at once. */
function invalid(issues: readonly [Issue, ...Issue[]]): Ending {
  const shown = issues.slice(0, MAX_ISSUES);
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
  rt.log.debug({ callId, tool, params: hideInLog(rt.hider.hideArgs(args)) }, `Parameters of tool: ${tool}`);
}
