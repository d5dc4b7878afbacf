import {
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import { type ClientCall, type ClientQuestion, type FinishedClientCall, isQuestion } from './client-call.ts';
import type { Connection } from './connection.ts';
import type { CallState, Door } from './door.ts';
import { progressSink } from './progress.ts';

/**
 * Starts the call of a request, or continues one whose question the client has answered. The call ends with the request
 * and with the connection.
 */
export async function runCall(
  door: Door,
  connection: Connection,
  { name, args }: { readonly name: string; readonly args: unknown },
  ctx: ServerContext,
): Promise<FinishedClientCall | InputRequiredResult> {
  const state = ctx.mcpReq.requestState<CallState>();
  const run = state === undefined ? door.start(connection, name, args, ctx) : door.waiting(state.callId, name, args);
  if (run === undefined) throw gone();
  const cancel = () => run.cancel();
  const progress = progressSink(ctx);
  run.follow(progress.tell);
  ctx.mcpReq.signal.addEventListener('abort', cancel, { once: true });
  if (ctx.mcpReq.signal.aborted) cancel();
  try {
    if (state !== undefined) run.answer(ctx.mcpReq.inputResponses ?? {}, state.round);
    const next = connection.era === 'legacy' ? await afterPushing(run, ctx) : await run.next();
    if (!isQuestion(next)) return door.finish(run, next);
    run.leave(() => door.drop(run.callId));
    return inputRequired({
      inputRequests: next.requests,
      requestState: await door.states.mint({ callId: run.callId, round: run.round }, ctx),
    });
  } finally {
    progress.end();
    // After the response the signal may still abort, without meaning.
    ctx.mcpReq.signal.removeEventListener('abort', cancel);
  }
}

/** Asks in the 2025 revision: questions are requests of ours, while the client's own request waits. */
async function afterPushing(run: ClientCall, ctx: ServerContext): Promise<ToolResult> {
  for (;;) {
    const next = await run.next();
    if (!isQuestion(next)) return next;
    await push(next, ctx);
  }
}

const A_DAY_MS = 24 * 60 * 60 * 1000;

async function push(question: ClientQuestion, ctx: ServerContext): Promise<void> {
  const options = { signal: question.signal, timeout: A_DAY_MS };
  try {
    const answers: [string, unknown][] = [];
    for (const [key, { method, params }] of Object.entries(question.requests)) {
      answers.push([key, await ctx.mcpReq.send({ method, ...(params && { params }) }, options)]);
    }
    question.answer(Object.fromEntries(answers));
  } catch (error) {
    question.fail(error);
  }
}

function gone(): ProtocolError {
  const message = 'This call is no longer waiting for an answer. Start it again.';
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
