import type { Access } from '../../kernel/tool/access.ts';
import type { FinalState } from '../../kernel/call/call.ts';
import { type ErrorCode, toFailure } from '../../kernel/error.ts';
import type { CallMove } from '../../kernel/call/event.ts';
import { fail, isPromise, isResult, type MaybePromise, ok, type Result } from '../../kernel/result.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import { type Admitted, confirm, isStale } from './admit.ts';
import type { CallScope, Turn } from '../call-scope.ts';
import { type Ending, ending } from '../ending.ts';
import { interruptible } from './interruption.ts';
import { record } from '../record.ts';
import type { Runtime } from '../runtime.ts';

/** wait for the calls before it → judge again if they changed anything → record the start → run with a deadline → render. All effects happen here. */
export function runAdmitted(rt: Runtime, call: CallScope, admitted: Admitted): MaybePromise<Ending> {
  if (call.context.dryRun) return describe(call, admitted);
  const turn = takeTurn(rt, call, admitted.access);
  if (turn !== undefined) return turn.then(() => runInTurn(rt, call, admitted));
  return runInTurn(rt, call, admitted);
}

function runInTurn(rt: Runtime, call: CallScope, admitted: Admitted): MaybePromise<Ending> {
  call.throwIfCancelled();
  if (!isStale(rt, call, admitted)) return start(rt, call, admitted);
  return confirm(rt, call, admitted).then((now) => {
    if (now.kind === 'ending') return now;
    return now === admitted ? start(rt, call, admitted) : runAdmitted(rt, call, now);
  });
}

function start(rt: Runtime, call: CallScope, admitted: Admitted): MaybePromise<Ending> {
  const { tool, input, access } = admitted;
  call.stage = 'definition';
  const summary = aString('summary', tool.summary(input));
  const { callId, args } = call;
  const at = rt.clock.now();
  const move: CallMove = { from: BEFORE_START, to: 'running', set: { args, effect: tool.effect, startedAt: at } };
  const recorded = record(rt, call, move, {
    type: 'call.started',
    callId,
    at,
    data: { tool: tool.name, args, summary, access },
  });
  if (recorded === undefined || changesNothing(admitted)) return run(rt, call, admitted, at);
  return recorded.then(() => run(rt, call, admitted, at));
}

function run(rt: Runtime, call: CallScope, { tool, input, access }: Admitted, at: number): MaybePromise<Ending> {
  call.throwIfCancelled();
  call.stage = 'tool';
  call.admitted = access;
  call.startedAt = at;
  call.startedMonotonic = rt.clock.monotonic();
  const seconds = tool.seconds?.(input, call.ctx);
  const running = call.bounded(tool.run(input, call.ctx), { seconds, givenUp: rt.givenUp?.signal });
  return isPromise(running) ? running.then((result) => ended(tool, result)) : ended(tool, running);
}

function ended(tool: Tool, result: Result<unknown>): Ending {
  if (!isResult(result)) return ending('failed', notAResult(result));
  if (!result.ok) return failedByItself(result);
  const text = tool.render === undefined ? undefined : aString('render', tool.render(result.value));
  return ending('succeeded', result, text);
}

const BEFORE_START = ['requested', 'awaiting_approval'] as const;

/**
 * What a call changes may only change after its start is kept: then a crash leaves a trace of it. One that only looks
 * need not wait, as nobody gets its result before its end is kept. What goes over the network is seen by others.
 */
function changesNothing({ tool, access, agreed }: Admitted): boolean {
  return tool.effect === 'pure' && agreed === undefined && access.every(({ kind }) => kind === 'fs.read');
}

/** Says what would happen. The tool's `run` is never reached, so nothing can change. */
async function describe(call: CallScope, { tool, input, wouldAsk }: Admitted): Promise<Ending> {
  call.stage = 'definition';
  const what = (await call.bounded(tool.preview?.(input, call.ctx))) ?? aString('summary', tool.summary(input));
  const question = wouldAsk === undefined ? '' : `\nA person would be asked first: ${wouldAsk}`;
  return ending('succeeded', ok(`[Dry Run] Would run: ${what}${question}`, { dryRun: true }));
}

/** Undefined when nothing has to be waited for. */
function takeTurn(rt: Runtime, call: CallScope, access: readonly Access[]): Promise<void> | undefined {
  const { turn } = call.request;
  if (turn !== undefined) return afterEarlier(rt, call, access, turn);
  return takePlace(rt, call, access);
}

/** First the earlier calls of its batch, which may still be with a person; only then a place among all calls. */
async function afterEarlier(rt: Runtime, call: CallScope, access: readonly Access[], turn: Turn): Promise<void> {
  await interruptible(turn.wait(access), undefined, call.cancelSignal);
  await takePlace(rt, call, access);
}

function takePlace(rt: Runtime, call: CallScope, access: readonly Access[]): Promise<void> | undefined {
  if (access.length === 0) return undefined;
  call.ticket = rt.locks.take(access, call.context.workingDir, call.request.parent?.ticket);
  const before = rt.locks.turn(call.ticket);
  return before && interruptible(before, undefined, call.cancelSignal);
}

/** A tool that watches its own clock says so with these codes. */
function failedByItself({ error, metadata }: Extract<Result<never>, { ok: false }>): Ending {
  const failure = toFailure(error);
  const result: Result<never> =
    metadata === undefined ? { ok: false, error: failure } : { ok: false, error: failure, metadata };
  return ending(STATE_OF.get(failure.code) ?? 'failed', result);
}

const STATE_OF = new Map<ErrorCode, FinalState>([
  ['TIMEOUT', 'timed_out'],
  ['CANCELLED', 'interrupted'],
]);

/** An async one would read «[object Promise]», and its rejection would end the process. */
function aString(method: string, text: unknown): string {
  if (typeof text === 'string') return text;
  if (isPromise(text)) text.catch(() => {});
  throw new TypeError(`its ${method} must return a string, and at once`);
}

function notAResult(value: unknown): Result<never> {
  const got = value === undefined ? 'nothing' : `a ${typeof value}`;
  return fail(
    'EXECUTION_ERROR',
    `The tool returned ${got} instead of a result: return ok(value) or fail(code, message).`,
  );
}
