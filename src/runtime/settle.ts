import type { Outcome } from '../kernel/call.ts';
import { messageOf } from '../kernel/error.ts';
import type { CallMove } from '../kernel/event.ts';
import { fail, type Metadata } from '../kernel/result.ts';
import { failed, succeeded, type ToolResult, textOf } from '../kernel/tool-result.ts';
import type { CallScope } from './call-scope.ts';
import type { Ending } from './execute.ts';
import { ToolExecution } from './history.ts';
import { record } from './record.ts';
import { redact, redactText } from './redact.ts';
import type { Runtime } from './runtime.ts';
import { truncate } from './truncate.ts';

/** bound → record → tell. Where every call ends, however it went. */
export async function settle(rt: Runtime, call: CallScope, ended: Ending): Promise<ToolResult> {
  const ending = serialisable(ended);
  const bounded = ending.text.length > call.maxOutputSize ? await bound(rt, call, ending) : ending;
  const result = answer(call, bounded);
  const unrecorded = await recordEnd(rt, call, bounded, result);
  log(rt, call, result);
  return unrecorded ?? result;
}

/** An ending whose text is settled, and what truncation kept of it. */
interface Settled extends Ending {
  text: string;
  artifact?: string;
}

/** The text a model reads. A value that cannot become JSON is the tool's failure: no door could carry it. */
function serialisable(ending: Ending): Settled {
  const { result } = ending;
  if (!result.ok) return { ...ending, text: errorText(result.error) };
  try {
    const text = ending.text ?? textOf(result.value);
    const isObject = typeof result.value === 'object' && result.value !== null;
    if (typeof result.value === 'function' || typeof result.value === 'symbol')
      throw new TypeError(`it is a ${typeof result.value}`);
    if (isObject && ending.text !== undefined) JSON.stringify(result.value);
    return { ...ending, text: String(text) };
  } catch (error) {
    const message = `The tool ran, but its result cannot be written as JSON: ${messageOf(error)}`;
    return { state: 'failed', result: fail('EXECUTION_ERROR', message), text: `Error: ${message}` };
  }
}

/** Every issue, not only the first, so that a model mends them all at once. */
function errorText(error: { message: string; details?: Record<string, unknown> }): string {
  const issues = error.details?.issues;
  if (!Array.isArray(issues) || issues.length < 2) return `Error: ${error.message}`;
  return `Error: ${issues.map((issue: { message: string }) => issue.message).join('; ')}`;
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
  const extras = { callId, warnings, text: withWarnings(text, warnings), ...(metadata && { metadata }) };
  return result.ok ? succeeded(result.value, extras) : failed(call.toolName, result.error, extras);
}

function withWarnings(text: string, warnings: readonly string[]): string {
  return warnings.length === 0 ? text : `${text}\n${warnings.map((warning) => `[Note: ${warning}]`).join('\n')}`;
}

/** Undefined when it went well; otherwise the answer to give instead, as nobody could look this call up later. */
async function recordEnd(
  rt: Runtime,
  call: CallScope,
  ending: Settled,
  result: ToolResult,
): Promise<ToolResult | undefined> {
  const at = rt.clock.now();
  const durationMs = rt.clock.monotonic() - (call.startedMonotonic || call.openedAt);
  const outcome = outcomeOf(result, ending.artifact);
  const { callId, args, toolName: tool } = call;
  const execution = {
    result,
    state: ending.state,
    startedMs: call.startedAt ?? call.requestedAt,
    completedMs: at,
    durationMs,
  };
  rt.history.add(new ToolExecution({ callId, toolName: tool, params: args }, execution), result.text.length);

  const move: CallMove = { from: UNFINISHED, to: ending.state, set: { args, finishedAt: at, durationMs, outcome } };
  const data = { tool, state: ending.state, outcome, durationMs };
  try {
    const recorded = record(rt, call, move, { type: 'call.finished', callId, at, data });
    if (recorded !== undefined) await recorded;
    return undefined;
  } catch (error) {
    rt.log.error(
      { callId, tool, state: ending.state, outcome: redact(outcome) },
      `A call could not be recorded: ${messageOf(error)}`,
    );
    const message = `${tool} ended (${ending.state}), but that could not be recorded: ${messageOf(error)}. Check the store before going on.`;
    return failed(tool, { code: 'INTERNAL', message, details: { state: ending.state } }, { callId });
  }
}

const UNFINISHED = ['requested', 'awaiting_approval', 'queued', 'running'] as const;

function outcomeOf(result: ToolResult, artifact: string | undefined): Outcome {
  const { text, warnings } = result;
  const metadata: Metadata | undefined = Object.keys(result.metadata).length > 0 ? result.metadata : undefined;
  return {
    ok: result.ok,
    text,
    ...(result.ok ? { value: result.value } : { error: result.error.toJSON() }),
    ...(warnings.length > 0 && { warnings }),
    ...(metadata && { metadata }),
    ...(artifact !== undefined && { artifact }),
  };
}

function log(rt: Runtime, call: CallScope, result: ToolResult): void {
  const { callId, toolName: tool } = call;
  if (result.ok) rt.log.info({ callId, tool }, `Tool ${tool} succeeded`);
  else
    rt.log.warn({ callId, tool, code: result.error.code }, `Tool ${tool} failed: ${redactText(result.error.message)}`);
}
