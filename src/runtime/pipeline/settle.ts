import type { Outcome } from '../../kernel/call/call.ts';
import type { CallMove, EventData } from '../../kernel/call/event.ts';
import { messageOf, type ToolError } from '../../kernel/error.ts';
import type { MaybePromise } from '../../kernel/result.ts';
import { failed, NO_METADATA, succeeded, type ToolResult } from '../../kernel/tool/tool-result.ts';
import { hideInLog, hideInLogText } from '../../secrets/hide-in-logs.ts';
import { ToolExecution } from '../history.ts';
import { estimateSize } from '../memory/ring.ts';
import type { Runtime } from '../runtime.ts';
import type { CallScope, Ending } from './call-scope.ts';
import { record } from './record.ts';
import { type ReadableEnding, toReadable, truncateResult } from './truncate-result.ts';

/** truncate → record → report. Every call ends here. Never throws. */
export function settle(rt: Runtime, call: CallScope, end: Ending): MaybePromise<ToolResult> {
  const text = toReadable(end, call.warnings);
  if (text.text.length <= call.context.maxOutputSize) return conclude(rt, call, text);
  return truncateResult(rt, call, text).then((bounded) => conclude(rt, call, bounded));
}

function conclude(rt: Runtime, call: CallScope, end: ReadableEnding): MaybePromise<ToolResult> {
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

function answer(call: CallScope, { result, text, artifact }: ReadableEnding): ToolResult {
  const { callId, warnings } = call;
  const metadata = artifact === undefined ? result.metadata : { ...result.metadata, truncated: true, artifact };
  const extras = { callId, warnings, text, metadata };
  return result.ok ? succeeded(result.value, extras) : failed(call.toolName, result.error, extras);
}

function executionOf(rt: Runtime, call: CallScope, { state }: ReadableEnding, result: ToolResult): ToolExecution {
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
  const data: EventData['call.finished'] = { tool, state, outcome, durationMs };
  if (call.startedAt === null) data.args = args;
  return record(rt, call, move, { type: 'call.finished', callId, at, data });
}

/** Not `queued`: then this process was evicted, and the call belongs to the process that takes it over. */
const UNFINISHED = ['requested', 'awaiting_approval', 'running'] as const;

function concluded(rt: Runtime, call: CallScope, execution: ToolExecution): ToolResult {
  const { callId, toolName: tool, result, params } = execution;
  const size = result.text.length + estimateSize(params) + (result.ok ? estimateSize(result.value) : 0);
  rt.history.add(execution, size);
  if (call.request.key !== undefined) rt.waiters.tell(callId, result);
  if (!result.ok) logFailure(rt, callId, toLogText(rt, tool), result.error);
  else if (rt.log.isLevelEnabled('info')) rt.log.info({ callId, tool }, `Tool ${tool} succeeded`);
  return result;
}

/** Masks the name as well: that of an unknown tool may be any text. */
function logFailure(rt: Runtime, callId: string, tool: string, { code, message }: ToolError): void {
  rt.log.warn({ callId, tool, code }, `Tool ${tool} failed: ${toLogText(rt, message)}`);
}

/** The result when the end could not be recorded: the call cannot be looked up later, so nobody may rely on it. */
function unrecorded(rt: Runtime, call: CallScope, execution: ToolExecution, error: unknown): ToolResult {
  const { callId, toolName: tool, state, result } = execution;
  const why = messageOf(error);
  const outcome = hideInLog(rt.hider.hide(outcomeOf(result, undefined)));
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

const MAX_LOGGED_CHARACTERS = 500;

/** Hides secrets in a message and truncates it: it may carry the output of a command. */
function toLogText({ hider }: Runtime, message: string): string {
  const text = hideInLogText(hider.hide(message));
  return text.length > MAX_LOGGED_CHARACTERS ? `${text.slice(0, MAX_LOGGED_CHARACTERS)} …` : text;
}
