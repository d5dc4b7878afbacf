import { createHmac, randomBytes } from 'node:crypto';
import type { ExecutionContext } from '../kernel/call/execution-context.ts';
import type { AssistantMessage, CallPart, ResultPart, ResultsMessage } from '../kernel/call/message.ts';
import { type ErrorCode, knownCode } from '../kernel/error.ts';
import type { Tool } from '../kernel/tool/tool.ts';
import type { ToolResult } from '../kernel/tool/tool-result.ts';
import type { ToolExecutor } from '../runtime/executor.ts';
import { markUntrusted } from './mark-untrusted.ts';

/** A model that asks for more at once is told to ask again: a thousand calls at a time are a mistake or an attack. */
const MAX_CALLS = 32;

interface AssistantTurn {
  readonly message: AssistantMessage;
  /** Position of the turn in the log; together with the call's position in the turn it identifies the call for ever. */
  readonly seq: number;
}

interface CallEnvironment {
  readonly executor: ToolExecutor;
  readonly context: ExecutionContext;
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes the calls of a turn and answers each once, in order. Repeated after a crash it gives the same answers: a call
 * that ran is not run again, because its key is its position in the log.
 */
export async function answerCalls(
  turn: AssistantTurn,
  { executor, context, signal }: CallEnvironment,
): Promise<ResultsMessage> {
  const calls = callsOf(turn.message);
  const made = calls.filter((call, at) => refusalOf(turn.message, call, at) === undefined);
  const requests = made.map((call) => ({
    tool: call.name,
    args: call.args,
    key: `turn-${turn.seq}.${calls.indexOf(call)}`,
    isIncomplete: call.isIncomplete === true,
  }));
  const answers = await executor.executeMany(requests, context, signal === undefined ? {} : { signal });
  const results = calls.map((call, at): ResultPart => {
    const answer = answers[made.indexOf(call)];
    if (answer !== undefined) return toResult(call, answer, executor);
    const text = refusalOf(turn.message, call, at) ?? '';
    return { id: call.id, name: call.name, callId: null, text: `Error: ${text}`, isError: true };
  });
  return { role: 'results', results };
}

export function callsOf({ parts }: AssistantMessage): CallPart[] {
  return parts.filter((part) => part.type === 'call');
}

/** Why a call is answered without being made. */
function refusalOf({ stop }: AssistantMessage, { name, problem }: CallPart, at: number): string | undefined {
  if (stop.reason === 'refused' || stop.reason === 'unknown')
    return `${name} was not run: the turn ended unexpectedly.`;
  if (problem !== undefined) return `${name} was not run, because its arguments cannot be used. ${problem}`;
  if (at >= MAX_CALLS) return `${name} was not run: at most ${MAX_CALLS} calls run at once. Ask for it again.`;
  return undefined;
}

function toResult({ id, name, args }: CallPart, answer: ToolResult, executor: ToolExecutor): ResultPart {
  const { callId, ok } = answer;
  const words = ok || FROM_OUTSIDE[knownCode(answer.error.code)];
  const tool = executor.offered().find((offered) => offered.name === name);
  const source = tool === undefined ? name : `${name}: ${summaryOf(tool, args)}`;
  const text = words ? markUntrusted(answer.text, { source, secret: secretOf(callId) }) : answer.text;
  return { id, name, callId, text, isError: !ok };
}

/** A command knows its call's id, so the id alone would be no secret. */
const KEY = randomBytes(32);

/** The same for the same call, and impossible to guess for its output. */
function secretOf(callId: string | null): string {
  return createHmac('sha256', KEY)
    .update(callId ?? '')
    .digest('hex')
    .slice(0, 10);
}

function summaryOf(tool: Tool, args: unknown): string {
  const checked = tool.input.check(args);
  try {
    return checked.ok ? tool.summary(checked.value) : '';
  } catch {
    return '';
  }
}

/** Whether the text of a failure may come from outside, rather than from the runtime. */
const FROM_OUTSIDE: Record<ErrorCode, boolean> = {
  INVALID_INPUT: false,
  UNKNOWN_TOOL: false,
  TOOL_DISABLED: false,
  INVALID_PATH: false,
  FILE_NOT_FOUND: false,
  PERMISSION_DENIED: false,
  CONFLICT: false,
  TOO_LARGE: false,
  APPROVAL_DENIED: false,
  APPROVAL_EXPIRED: false,
  TIMEOUT: false,
  CANCELLED: false,
  EXECUTION_ERROR: true,
  NETWORK_ERROR: true,
  NOT_CONFIGURED: false,
  SANDBOX_UNAVAILABLE: false,
  INTERNAL: false,
};
