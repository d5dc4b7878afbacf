import type { Outcome } from '../kernel/call.ts';
import { type Failure, messageOf } from '../kernel/error.ts';
import type { CallMove } from '../kernel/event.ts';
import type { Issue } from '../kernel/input-schema.ts';
import { fail, type MaybePromise } from '../kernel/result.ts';
import { failed, NO_METADATA, succeeded, type ToolResult, textOf } from '../kernel/tool-result.ts';
import type { CallScope } from './call-scope.ts';
import type { Ending } from './ending.ts';
import { ToolExecution } from './history.ts';
import { record } from './record.ts';
import { redact, redactText } from './redact.ts';
import type { Runtime } from './runtime.ts';
import { truncate } from './truncate.ts';

/** bound → record → tell. Where every call ends, however it went. */
export function settle(rt: Runtime, call: CallScope, ended: Ending): MaybePromise<ToolResult> {
  const ending = serialisable(ended);
  if (ending.text.length <= call.maxOutputSize) return conclude(rt, call, ending);
  return bound(rt, call, ending).then((bounded) => conclude(rt, call, bounded));
}

function conclude(rt: Runtime, call: CallScope, ending: Settled): MaybePromise<ToolResult> {
  const result = answer(call, ending);
  const end = endOf(rt, call, ending, result);
  rt.history.add(new ToolExecution(end), result.text.length);
  log(rt, call, result);
  try {
    const recorded = recordEnd(rt, call, end, ending.artifact);
    if (recorded === undefined) return result;
    return recorded.then(
      () => result,
      (error) => unrecorded(rt, end, error),
    );
  } catch (error) {
    return unrecorded(rt, end, error);
  }
}

/** An ending whose text is settled, and what truncation kept of it. */
interface Settled extends Ending {
  text: string;
  artifact: string | undefined;
}

/** The text a model reads. A value that cannot become JSON is the tool's failure: no door could carry it. */
function serialisable(ending: Ending): Settled {
  const { result } = ending;
  const { state } = ending;
  if (!result.ok) return { state, result, text: errorText(result.error), artifact: undefined };
  try {
    return { state, result, text: checkedText(result.value, ending.text), artifact: undefined };
  } catch (error) {
    const message = `The tool ran, but its result cannot be written as JSON: ${messageOf(error)}`;
    return {
      state: 'failed',
      result: fail('EXECUTION_ERROR', message),
      text: `Error: ${message}`,
      artifact: undefined,
    };
  }
}

function checkedText(value: unknown, rendered: string | undefined): string {
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError(`it is a ${typeof value}`);
  if (typeof value === 'bigint') throw new TypeError('it is a bigint; return a number or a string');
  if (rendered === undefined) return textOf(value);
  if (typeof value === 'object' && value !== null) JSON.stringify(value);
  return String(rendered);
}

/** For the model, which acts on it: every issue, not only the first, and the names it may have meant. */
function errorText({ message, details }: Failure): string {
  const { issues, suggestions } = (details ?? {}) as { issues?: Issue[]; suggestions?: string[] };
  if (issues !== undefined) return `Error: ${issues.map((issue) => issue.message).join('; ')}`;
  if (suggestions !== undefined && suggestions.length > 0)
    return `Error: ${message}. Did you mean ${suggestions.join(' or ')}?`;
  return `Error: ${message}`;
}

async function bound(rt: Runtime, call: CallScope, ending: Settled): Promise<Settled> {
  const { text, result } = ending;
  const artifact = await rt.blobs.put(new TextEncoder().encode(text));
  const short = truncate(text, call.maxOutputSize, artifact);
  // A string without a rendering of its own is its text, so its value is bounded too.
  const value = result.ok && result.value === text ? short : undefined;
  const bounded = value === undefined ? result : { ...result, value };
  return { state: ending.state, result: bounded, text: short, artifact };
}

function answer(call: CallScope, { result, text, artifact }: Settled): ToolResult {
  const { callId, warnings } = call;
  const metadata = artifact === undefined ? result.metadata : { ...result.metadata, truncated: true, artifact };
  const extras = { callId, warnings, text: withWarnings(text, warnings), metadata };
  return result.ok ? succeeded(result.value, extras) : failed(call.toolName, result.error, extras);
}

function withWarnings(text: string, warnings: readonly string[]): string {
  return warnings.length === 0 ? text : `${text}\n${warnings.map((warning) => `[Note: ${warning}]`).join('\n')}`;
}

type End = ConstructorParameters<typeof ToolExecution>[0];

function endOf(rt: Runtime, call: CallScope, { state }: Settled, result: ToolResult): End {
  return {
    callId: call.callId,
    toolName: call.toolName,
    params: call.args,
    result,
    state,
    startedMs: call.startedAt ?? call.requestedAt,
    completedMs: rt.clock.now(),
    durationMs: rt.clock.monotonic() - (call.startedMonotonic || call.openedAt),
  };
}

function recordEnd(rt: Runtime, call: CallScope, end: End, artifact: string | undefined): void | Promise<void> {
  const { callId, params: args, toolName: tool, state, completedMs: at, durationMs } = end;
  const outcome = outcomeOf(end.result, artifact);
  const move: CallMove = { from: UNFINISHED, to: state, set: { args, finishedAt: at, durationMs, outcome } };
  return record(rt, call, move, { type: 'call.finished', callId, at, data: { tool, state, outcome, durationMs } });
}

/** The answer when the end could not be recorded: nobody could look this call up later, so nobody may rely on it. */
function unrecorded(rt: Runtime, { callId, toolName: tool, state, result }: End, error: unknown): ToolResult {
  const why = messageOf(error);
  rt.log.error(
    { callId, tool, state, outcome: redact(outcomeOf(result, undefined)) },
    `A call could not be recorded: ${why}`,
  );
  const message = `${tool} ended (${state}), but that could not be recorded: ${why}. Check the store before going on.`;
  return failed(tool, { code: 'INTERNAL', message, details: { state } }, { callId });
}

const UNFINISHED = ['requested', 'awaiting_approval', 'queued', 'running'] as const;

function outcomeOf(result: ToolResult, artifact: string | undefined): Outcome {
  const { ok, text, warnings, metadata } = result;
  const outcome: Outcome = ok ? { ok, text, value: result.value } : { ok, text, error: result.error.toJSON() };
  if (warnings.length > 0) outcome.warnings = warnings;
  if (metadata !== NO_METADATA) outcome.metadata = metadata;
  if (artifact !== undefined) outcome.artifact = artifact;
  return outcome;
}

function log(rt: Runtime, call: CallScope, result: ToolResult): void {
  const { callId, toolName: tool } = call;
  if (result.ok) rt.log.info({ callId, tool }, `Tool ${tool} succeeded`);
  else
    rt.log.warn({ callId, tool, code: result.error.code }, `Tool ${tool} failed: ${redactText(result.error.message)}`);
}
