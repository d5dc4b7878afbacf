import type { ApprovalRecord } from '../../kernel/call/approval.ts';
import { frozenCopy } from '../../kernel/plain-copy.ts';
import { fail, isPromise, type MaybePromise, type Result } from '../../kernel/result.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { InputSchema, Issue } from '../../kernel/tool/input-schema.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import { hideInLog } from '../../secrets/hide-in-logs.ts';
import { pauseParents } from '../order/pause-parents.ts';
import { findTool } from '../registry/find-tool.ts';
import { earlierAnswer } from '../resume/resume.ts';
import type { Runtime } from '../runtime.ts';
import { askPerson, changedSince, noteChanges, refusedEarlier } from './ask-person.ts';
import { type CallScope, type Ending, ending } from './call-scope.ts';
import { judgeCall, type PlannedCall, type ProposedCall, refused } from './judge-call.ts';
import { digestCall, pathsShown } from './present-call.ts';
import { runBeforeHooks } from './run-hooks.ts';

/**
 * validate → hooks → plan → policy → approval. Has no effects outside; returns an Ending for a refusal. Returns
 * synchronously where nothing has to be awaited, as for most calls.
 */
export function admit(rt: Runtime, call: CallScope, found: Result<Tool>): MaybePromise<PlannedCall | Ending> {
  if (!found.ok) return unknown(found);
  const tool = found.value;
  logStart(rt, call);
  if (call.request.resume !== undefined) return admitResumed(rt, call, tool);
  const planned = propose(rt, call, { tool, args: call.args });
  return isPromise(planned) ? planned.then((late) => admitPlanned(rt, call, late)) : admitPlanned(rt, call, planned);
}

function admitPlanned(rt: Runtime, call: CallScope, planned: PlannedCall | Ending): MaybePromise<PlannedCall | Ending> {
  if (planned.kind === 'ending') return planned;
  const { verdict } = planned;
  if (verdict.verdict === 'allow') return planned;
  return verdict.verdict === 'deny' ? tellRefusal(call, planned, refused(verdict)) : ask(rt, call, planned);
}

function tellRefusal(call: CallScope, { derived }: PlannedCall, end: Ending): MaybePromise<Ending> {
  const { onRefused } = call.request;
  if (onRefused === undefined || derived === undefined) return end;
  return onRefused(async () => derived.preview()).then(() => end);
}

async function admitResumed(rt: Runtime, call: CallScope, tool: Tool): Promise<PlannedCall | Ending> {
  const earlier = await earlierAnswer(rt, call);
  if (earlier !== undefined && earlier.state !== 'approved') return refusedEarlier(tool, earlier);
  const args = earlier?.edited == null ? call.args : frozenCopy(earlier.edited.args);
  const planned = await propose(rt, call, { tool, args });
  if (earlier === undefined || planned.kind === 'ending') return admitPlanned(rt, call, planned);
  return planned.verdict.verdict === 'deny' ? refused(planned.verdict) : admitEarlier(call, planned, earlier);
}

async function ask(rt: Runtime, call: CallScope, planned: PlannedCall): Promise<PlannedCall | Ending> {
  const { tool, verdict } = planned;
  if (call.context.dryRun) return { ...planned, wouldAsk: verdict.reason };
  const answer = await askInside(rt, call, planned);
  if (answer.kind === 'ending') return tellRefusal(call, planned, answer);
  const agreedPaths = pathsShown(planned, answer.shown);
  if (answer.modifiedArgs === undefined) return { ...planned, approvedDigest: answer.asked, agreedPaths };

  // Edited arguments are a new proposal, planned and judged from the start. The approval covers a verdict "ask", never "deny".
  const args = frozenCopy(answer.modifiedArgs);
  const edited = await propose(rt, call, { tool, args, prefix: 'The edited arguments are invalid: ' });
  if (edited.kind === 'ending') return edited;
  if (edited.verdict.verdict === 'deny') return refused(edited.verdict);
  const digest = digestCall(call, edited);
  if (answer.digest !== undefined && answer.digest !== digest) return changedSince(edited);
  return { ...edited, approvedDigest: digest, agreedPaths };
}

/** Asks, while the calls around this one wait with it. */
async function askInside(rt: Runtime, call: CallScope, planned: PlannedCall): ReturnType<typeof askPerson> {
  if (call.request.parent === undefined) return askPerson(rt, call, planned);
  const resume = pauseParents(rt.locks, call, planned.tool);
  try {
    return await askPerson(rt, call, planned);
  } finally {
    resume();
  }
}

/** Applies an approval given before its process ended. It covers exactly the call that was shown then. */
function admitEarlier(call: CallScope, planned: PlannedCall, earlier: ApprovalRecord): PlannedCall | Ending {
  const digest = digestCall(call, planned);
  if (digest !== (earlier.edited?.digest ?? earlier.digest)) return changedSince(planned);
  noteChanges(call, earlier.edited?.changed);
  const agreedPaths = pathsShown(planned, (earlier.edited ?? earlier).shown);
  return { ...planned, approvedDigest: digest, agreedPaths };
}

/** Returns whether the decision about a call may be outdated when its turn comes. */
export function isStale(rt: Runtime, call: CallScope, { approvedDigest, tool }: PlannedCall): boolean {
  if (approvedDigest !== undefined || call.judgedAfter !== rt.locks.changes) return true;
  return tool.version !== undefined && isRedefined(tool, findTool(rt, call.request));
}

/** A call that is planned anew, and whether it may start now or must wait for its turn again. */
export interface RejudgedCall {
  readonly kind: 'rejudged';
  readonly planned: PlannedCall;
  readonly mayStart: boolean;
}

/**
 * Plans and judges a call again, because rules, switches, files and the tool itself may have changed. The new plan runs.
 * An approved call does not run if its digest changed; a call that needed no approval may need one now, and waits for its
 * turn again afterwards.
 */
export async function judgeAgain(rt: Runtime, call: CallScope, before: PlannedCall): Promise<RejudgedCall | Ending> {
  const { tool, input, approvedDigest, agreedPaths = [] } = before;
  const found = findTool(rt, call.request);
  if (!found.ok) return unknown(found);
  if (isRedefined(tool, found)) return changedSince({ tool });
  const now = await judgeCall(rt, call, { tool, input });
  if (now.kind === 'ending') return now;
  if (now.verdict.verdict === 'deny') return refused(now.verdict);
  if (approvedDigest !== undefined) {
    if (digestCall(call, now) !== approvedDigest) return changedSince(now);
    return mayStart({ ...now, approvedDigest, agreedPaths });
  }
  if (now.verdict.verdict === 'allow') return mayStart(now);
  if (isCertainToFail(before.access, now.subject.access)) return mayStart(before);
  if (call.ticket !== undefined) rt.locks.release(call.ticket);
  const asked = await ask(rt, call, now);
  return asked.kind === 'ending' ? asked : { kind: 'rejudged', planned: asked, mayStart: false };
}

function mayStart(planned: PlannedCall): RejudgedCall {
  return { kind: 'rejudged', planned, mayStart: true };
}

function isRedefined({ version }: Tool, found: Result<Tool>): boolean {
  return found.ok && found.value.version !== version;
}

/** Returns true for creating a file that exists by now: the write itself refuses that, so no person has to be asked. */
function isCertainToFail([before, ...more]: readonly Access[], [now]: readonly Access[]): boolean {
  if (before?.kind !== 'fs.write' || now?.kind !== 'fs.write' || more.length > 0) return false;
  return before.path === now.path && before.expect === 'absent' && now.expect !== 'absent';
}

interface GivenArguments {
  readonly tool: Tool;
  readonly args: unknown;
  /** Begins the message about arguments that are invalid. */
  readonly prefix?: string;
}

export function propose(
  rt: Runtime,
  call: CallScope,
  { tool, args, prefix }: GivenArguments,
): MaybePromise<PlannedCall | Ending> {
  const given = validate(tool, call, args);
  if (given.kind === 'ending') return prefix === undefined ? given : ending('failed', prefixed(prefix, given.result));
  return rt.hooks.length === 0 ? judgeCall(rt, call, given) : proposeHooked(rt, call, given);
}

async function proposeHooked(rt: Runtime, call: CallScope, given: ProposedCall): Promise<PlannedCall | Ending> {
  const { tool } = given;
  let { input } = given;
  const refused = await runBeforeHooks(rt.hooks, call, (args) => {
    const changed = validate(tool, call, frozenCopy(args));
    if (changed.kind === 'valid') input = changed.input;
    return changed.kind === 'valid' ? undefined : changed;
  });
  return refused ?? judgeCall(rt, call, { tool, input });
}

interface ValidCall extends ProposedCall {
  readonly kind: 'valid';
}

/** Sets `call.args`, which people, hooks and the record get from now on, to a frozen copy of the input that runs. */
function validate(tool: Tool, call: CallScope, args: unknown): ValidCall | Ending {
  call.stage = 'definition';
  const checked = (tool.input as InputSchema).check(args);
  if (checked.warnings.length > 0) call.warnings.push(...checked.warnings);
  if (!checked.ok) return invalid(checked.issues);
  call.args = frozenCopy(checked.value);
  return { kind: 'valid', tool, input: checked.value };
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
