import { createHmac, randomBytes } from 'node:crypto';
import type { ErrorCode } from '../kernel/error.ts';
import type { ExecutionContext } from '../kernel/call/execution-context.ts';
import type { AssistantMessage, CallPart, ResultPart, ResultsMessage } from '../kernel/call/message.ts';
import type { Tool } from '../kernel/tool/tool.ts';
import type { ToolResult } from '../kernel/tool/tool-result.ts';
import type { ToolExecutor } from '../runtime/executor.ts';
import { untrusted } from './untrusted.ts';

/** A model that asks for more at once is told to ask again: a thousand at a time is a mistake or an attack. */
const MOST_CALLS = 32;

interface Turn {
  readonly message: AssistantMessage;
  /** The turn's place in the log; with the call's place in the turn it names the call for ever. */
  readonly seq: number;
}

interface Surroundings {
  readonly executor: ToolExecutor;
  readonly context: ExecutionContext;
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes a turn's calls and answers each of them once, in their order. Done again after a crash it gives the same
 * answers: a call that ran is not run again, because its key is its place in the log.
 */
export async function answerCalls(turn: Turn, { executor, context, signal }: Surroundings): Promise<ResultsMessage> {
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
  if (at >= MOST_CALLS) return `${name} was not run: at most ${MOST_CALLS} calls are made at once. Ask again for it.`;
  return undefined;
}

function toResult({ id, name, args }: CallPart, answer: ToolResult, executor: ToolExecutor): ResultPart {
  const { callId, ok } = answer;
  const words = ok || FROM_OUTSIDE[answer.error.code];
  const tool = executor.offered().find((offered) => offered.name === name);
  const source = tool === undefined ? name : `${name}: ${summaryOf(tool, args)}`;
  const text = words ? untrusted(answer.text, { source, secret: secretOf(callId) }) : answer.text;
  return { id, name, callId, text, isError: !ok };
}

/** A command knows its call's id, so the id alone would be no secret. */
const KEY = randomBytes(32);

/** The same for the same call, and nothing that an output could guess. */
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

/** Whether a failure's words may be a stranger's, rather than the runtime's own. */
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
