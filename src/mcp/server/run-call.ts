import {
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import type { Connection } from './connection.ts';
import type { Door, RunState } from './door.ts';
import { progressSink } from './progress.ts';
import { type Ended, isQuestion, type Question, type Run } from './client-call.ts';

/**
 * The call that a request needs: starts it, or goes on with one whose question the client has answered. It ends with the
 * request, and with the connection.
 */
export async function runCall(
  door: Door,
  connection: Connection,
  { name, args }: { readonly name: string; readonly args: unknown },
  ctx: ServerContext,
): Promise<Ended | InputRequiredResult> {
  const state = ctx.mcpReq.requestState<RunState>();
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
    // After the answer the signal may still abort, and then means nothing.
    ctx.mcpReq.signal.removeEventListener('abort', cancel);
  }
}

/** The 2025 revision: questions are requests of ours, while the client's own request waits. */
async function afterPushing(run: Run, ctx: ServerContext): Promise<ToolResult> {
  for (;;) {
    const next = await run.next();
    if (!isQuestion(next)) return next;
    await push(next, ctx);
  }
}

const A_DAY_MS = 24 * 60 * 60 * 1000;

async function push(question: Question, ctx: ServerContext): Promise<void> {
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
  const message = 'This call is no longer waiting for an answer. Ask again from the start.';
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
