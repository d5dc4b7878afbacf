import type { CallRecord } from '../../kernel/call/call.ts';
import { type Failure, messageOf, ToolError } from '../../kernel/error.ts';
import { frozenCopy } from '../../kernel/plain-copy.ts';
import { fail, isPromise, isResult, type MaybePromise, type Result } from '../../kernel/result.ts';
import { KEEPING_TOOL } from '../../kernel/tool/kept-changes.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import { findTool } from '../registry/find-tool.ts';
import { answerOfEarlier, digestOfRequest } from '../resume/repeated-call.ts';
import { takeOver } from '../resume/resume.ts';
import type { Runtime } from '../runtime.ts';
import { admit } from './admit.ts';
import { CallContext } from './call-context.ts';
import {
  type CallRequest,
  CallScope,
  type Ending,
  ending,
  failedByItself,
  isUnused,
  nextCallId,
  type Stage,
} from './call-scope.ts';
import { Interruption } from './interruption.ts';
import { discardRefused } from './keep-changes.ts';
import { notifyCaller, recordUnawaited } from './record.ts';
import { runAdmitted } from './run-admitted.ts';
import { runAfterHooks } from './run-hooks.ts';
import { settle } from './settle.ts';

/**
 * The only way a tool runs; every door leads here.
 *   find → record the request → admit (validate, hooks, plan, policy, approval) → run (locks, tool, render) → settle
 * Every path ends in `settle`, so every call leaves one record and one final event. Never rejects.
 */
export async function executeCall(rt: Runtime, request: CallRequest): Promise<ToolResult> {
  const call = new CallScope(rt, request.resume?.id ?? request.id ?? nextCallId(), request);
  let end: Ending;
  try {
    const found = find(rt, call);
    const unreadable = readArguments(call);
    const pending = recordRequest(rt, call);
    const earlier = isPromise(pending) ? await pending : pending;
    if (earlier !== undefined)
      return await answerOfEarlier(rt, call, earlier, (queued) => resumed(rt, request, queued));
    call.recorded = true;
    call.throwIfCancelled();
    // Awaited even when it is there at once: a caller that cancels on the line after the call stops the tool.
    const admitted = unreadable ?? (await admit(rt, call, found));
    const ended = admitted.kind === 'ending' ? admitted : runAdmitted(rt, call, admitted);
    end = isPromise(ended) ? await ended : ended;
  } catch (thrown) {
    // Expected failures are values, so a throw is an interruption or a bug.
    end = explain(call, thrown);
    if (call.isUnrecorded && call.startedAt === null) call.recorded = false;
  }
  CallContext.end(call.ctx);
  if (call.ticket !== undefined) rt.locks.release(call.ticket);
  if (rt.hooks.length > 0 && call.startedAt !== null) end = await runAfterHooks(rt, call, end);
  if (call.toolName === KEEPING_TOOL) await discardRefused(rt, call, end);
  return settle(rt, call, end);
}

/** Runs first, so that the record carries the canonical name for any alias. */
function find(rt: Runtime, call: CallScope): Result<Tool> {
  const found = findTool(rt, call.request);
  if (found.ok) call.toolName = found.value.name;
  return found;
}

const ARGUMENTS_LOST =
  'Its arguments held a secret, which only the process that was asked keeps, so it could not be taken over. Repeat the call.';

/**
 * Copies the arguments once, so that a caller that still holds them cannot change what is recorded, shown and checked.
 */
function readArguments(call: CallScope): Ending | undefined {
  try {
    call.args = frozenCopy(call.request.args);
    const { isIncomplete } = call.request.resume ?? call.request;
    return isIncomplete ? ending('cancelled', fail('CANCELLED', ARGUMENTS_LOST, { phase: 'not_started' })) : undefined;
  } catch (error) {
    call.args = null;
    return ending('failed', fail('INVALID_INPUT', `The arguments cannot be read: ${messageOf(error)}`));
  }
}

/** Returns undefined when this call is new; otherwise the earlier call with the same key. */
function recordRequest(rt: Runtime, call: CallScope): MaybePromise<CallRecord | undefined> {
  const { resume } = call.request;
  if (resume !== undefined) return takeOver(rt, call, resume);
  const fresh = isNew(call.request);
  const submitted = rt.store.submit(requested(call), fresh ? NEW : undefined);
  if (!isPromise(submitted)) return tellNew(submitted);
  if (!fresh) return submitted.then(tellNew);
  recordUnawaited(call, submitted.then(tellNew));
  return undefined;

  function tellNew({ call: recorded, event }: Awaited<typeof submitted>): CallRecord | undefined {
    if (event === null) return recorded;
    call.epoch = rt.store.node?.epoch;
    rt.bus.emit(event);
    notifyCaller(rt, call.request, recorded.id);
    return undefined;
  }
}

const NEW = { isNew: true };

/** Returns true when the call cannot exist yet, so there is no need to wait for the store. */
function isNew({ key, id }: CallRequest): boolean {
  return (id === undefined || isUnused(id)) && key === undefined;
}

function requested(call: CallScope): CallRecord {
  const record: CallRecord = {
    id: call.callId,
    session: call.session,
    agent: call.context.agentId,
    tool: call.toolName,
    args: call.args,
    key: call.request.key ?? null,
    effect: 'once',
    state: 'requested',
    requestedAt: call.requestedAt,
    startedAt: null,
    finishedAt: null,
    durationMs: null,
    outcome: null,
  };
  const digest = call.request.key === undefined && !call.context.dryRun ? undefined : digestOfRequest(call);
  return digest === undefined ? record : { ...record, digest };
}

function resumed(rt: Runtime, request: CallRequest, queued: CallRecord): Promise<ToolResult> {
  const { takeUp = (taken) => executeCall(rt, taken) } = request;
  return takeUp({ ...request, args: queued.args, resume: queued });
}

function explain(call: CallScope, thrown: unknown): Ending {
  if (Interruption.is(thrown)) return interrupted(call, thrown);
  const { toolName: name, stage } = call;
  const why = messageOf(thrown);
  if (stage === 'tool')
    return failedByItself({ error: thrownFailure(thrown) ?? { code: 'EXECUTION_ERROR', message: why } });
  const message = `${culprit(stage, call)} failed, so ${name} did not run: ${why}`;
  return stage === 'approver'
    ? ending('denied', fail('APPROVAL_DENIED', message))
    : ending('failed', fail('INTERNAL', message));
}

/** Returns the failure that a tool threw, as a ToolError or as a whole result. Anything else that is thrown is a bug. */
function thrownFailure(thrown: unknown): Failure | undefined {
  try {
    if (thrown instanceof ToolError) return thrown.toJSON();
    return isResult(thrown) && !thrown.ok ? thrown.error : undefined;
  } catch {
    // A proxy may throw when it is read.
    return undefined;
  }
}

function culprit(stage: Exclude<Stage, 'tool'>, call: CallScope): string {
  const names = {
    store: 'The store',
    definition: `The definition of ${call.toolName}`,
    hook: `Hook ${call.hook}`,
    policy: 'The policy',
    approver: 'The approver',
  };
  return names[stage];
}

function interrupted(call: CallScope, { why }: Interruption): Ending {
  const { toolName: name, context } = call;
  CallContext.abort(call.ctx, why === 'timeout' ? `${name} timed out` : `${name} was cancelled`);
  const started = call.startedAt !== null;
  if (why === 'timeout') {
    const message = started
      ? `${name} timed out after ${context.timeout} s and was told to stop; its effects until then remain. Give it more time or less to do.`
      : `${name} timed out after ${context.timeout} s before it started; nothing ran.`;
    return ending('timed_out', fail('TIMEOUT', message, { timeout: context.timeout, started }));
  }
  const message = started
    ? `${name} was cancelled after it started; it may have done part of its work.`
    : `${name} was cancelled before it started; nothing ran.`;
  const phase = started ? 'interrupted' : 'not_started';
  return ending(started ? 'interrupted' : 'cancelled', fail('CANCELLED', message, { phase }));
}
