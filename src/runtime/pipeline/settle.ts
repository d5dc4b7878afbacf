import type { Outcome } from '../../kernel/call/call.ts';
import { messageOf, type ToolError } from '../../kernel/error.ts';
import type { CallMove } from '../../kernel/call/event.ts';
import type { MaybePromise } from '../../kernel/result.ts';
import { failed, NO_METADATA, succeeded, type ToolResult } from '../../kernel/tool/tool-result.ts';
import { boundText, type Readable, readable } from './truncate-result.ts';
import type { CallScope } from '../call-scope.ts';
import type { Ending } from '../ending.ts';
import { ToolExecution } from '../history.ts';
import { record } from '../record.ts';
import { redacted, redactText } from '../redact.ts';
import { roughSize } from '../rough-size.ts';
import type { Runtime } from '../runtime.ts';

/** bound → record → tell. Where every call ends, however it went. Never throws. */
export function settle(rt: Runtime, call: CallScope, end: Ending): MaybePromise<ToolResult> {
  const text = readable(end, call.warnings);
  if (text.text.length <= call.context.maxOutputSize) return conclude(rt, call, text);
  return boundText(rt, call, text).then((bounded) => conclude(rt, call, bounded));
}

function conclude(rt: Runtime, call: CallScope, end: Readable): MaybePromise<ToolResult> {
  const result = answer(call, end);
  const execution = executionOf(rt, call, end, result);
  if (!call.recorded) return concluded(rt, call, execution);
  try {
    const recorded = recordEnd(rt, call, execution, end.artifact);
    if (recorded === undefined) return concluded(rt, call, execution);
    return recorded.then(
      () => concluded(rt, call, execution),
      (error) => unrecorded(rt, call, execution, error),
    );
  } catch (error) {
    return unrecorded(rt, call, execution, error);
  }
}

function answer(call: CallScope, { result, text, artifact }: Readable): ToolResult {
  const { callId, warnings } = call;
  const metadata = artifact === undefined ? result.metadata : { ...result.metadata, truncated: true, artifact };
  const extras = { callId, warnings, text, metadata };
  return result.ok ? succeeded(result.value, extras) : failed(call.toolName, result.error, extras);
}

function executionOf(rt: Runtime, call: CallScope, { state }: Readable, result: ToolResult): ToolExecution {
  return new ToolExecution({
    callId: call.callId,
    toolName: call.toolName,
    params: call.args,
    result,
    state,
    startedMs: call.startedAt ?? call.requestedAt,
    completedMs: rt.clock.now(),
    durationMs: rt.clock.monotonic() - (call.startedMonotonic || call.openedAt),
  });
}

function recordEnd(
  rt: Runtime,
  call: CallScope,
  execution: ToolExecution,
  artifact: string | undefined,
): void | Promise<void> {
  const { callId, params: args, toolName: tool, state, completedMs: at, durationMs } = execution;
  const outcome = outcomeOf(execution.result, artifact);
  const move: CallMove = { from: UNFINISHED, to: state, set: { args, finishedAt: at, durationMs, outcome } };
  return record(rt, call, move, { type: 'call.finished', callId, at, data: { tool, state, outcome, durationMs } });
}

/** Not `queued`: then another process gave this one up, and the call is for whoever takes it over. */
const UNFINISHED = ['requested', 'awaiting_approval', 'running'] as const;

function concluded(rt: Runtime, call: CallScope, execution: ToolExecution): ToolResult {
  const { callId, toolName: tool, result, params } = execution;
  const size = result.text.length + roughSize(params) + (result.ok ? roughSize(result.value) : 0);
  rt.history.add(execution, size);
  if (call.request.key !== undefined) rt.waiting.tell(callId, result);
  if (!result.ok) logFailure(rt, callId, forTheLog(rt, tool), result.error);
  else if (rt.log.isLevelEnabled('info')) rt.log.info({ callId, tool }, `Tool ${tool} succeeded`);
  return result;
}

/** What there is no tool for may be called anything. */
function logFailure(rt: Runtime, callId: string, tool: string, { code, message }: ToolError): void {
  rt.log.warn({ callId, tool, code }, `Tool ${tool} failed: ${forTheLog(rt, message)}`);
}

/** The answer when the end could not be recorded: nobody could look this call up later, so nobody may rely on it. */
function unrecorded(rt: Runtime, call: CallScope, execution: ToolExecution, error: unknown): ToolResult {
  const { callId, toolName: tool, state, result } = execution;
  const why = messageOf(error);
  const outcome = redacted(rt.hider.hide(outcomeOf(result, undefined)));
  rt.log.error({ callId, tool, state, outcome }, `A call could not be recorded: ${why}`);
  const message = `${tool} ended (${state}), but that could not be recorded: ${why}. Check the store before going on.`;
  const told = failed(tool, { code: 'INTERNAL', message, details: { state } }, { callId });
  return concluded(rt, call, new ToolExecution({ ...execution, result: told, state: 'failed' }));
}

function outcomeOf(result: ToolResult, artifact: string | undefined): Outcome {
  const { ok, text, warnings, metadata } = result;
  const outcome: Outcome = ok ? { ok, text, value: result.value } : { ok, text, error: result.error.toJSON() };
  if (warnings.length > 0) outcome.warnings = warnings;
  if (metadata !== NO_METADATA) outcome.metadata = metadata;
  if (artifact !== undefined) outcome.artifact = artifact;
  return outcome;
}

const LONGEST_LOGGED = 500;

/** A message may carry what a command printed; a log line is not the place for all of that. */
function forTheLog({ hider }: Runtime, message: string): string {
  const text = redactText(hider.hide(message));
  return text.length > LONGEST_LOGGED ? `${text.slice(0, LONGEST_LOGGED)} …` : text;
}
