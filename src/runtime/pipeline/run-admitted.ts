import type { FinalState } from '../../kernel/call/call.ts';
import type { CallMove } from '../../kernel/call/event.ts';
import { type ErrorCode, toFailure } from '../../kernel/error.ts';
import { fail, isPromise, isResult, type MaybePromise, ok, type Result } from '../../kernel/result.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import type { Runtime } from '../runtime.ts';
import { type AdmittedCall, isStale, judgeAgain } from './admit.ts';
import type { CallScope, Turn } from './call-scope.ts';
import { type Ending, ending } from './call-scope.ts';
import { interruptible } from './interruption.ts';
import { record } from './record.ts';

/**
 * wait for earlier calls → judge again if they changed anything → record the start → run with a timeout → render. All
 * effects happen here.
 */
export function runAdmitted(rt: Runtime, call: CallScope, admitted: AdmittedCall): MaybePromise<Ending> {
  if (call.context.dryRun) return describe(call, admitted);
  const turn = takeTurn(rt, call, admitted.access);
  if (turn !== undefined) return turn.then(() => runInTurn(rt, call, admitted));
  return runInTurn(rt, call, admitted);
}

function runInTurn(rt: Runtime, call: CallScope, admitted: AdmittedCall): MaybePromise<Ending> {
  call.throwIfCancelled();
  if (!isStale(rt, call, admitted)) return start(rt, call, admitted);
  return judgeAgain(rt, call, admitted).then((now) => {
    if (now.kind === 'ending') return now;
    return now === admitted ? start(rt, call, admitted) : runAdmitted(rt, call, now);
  });
}

function start(rt: Runtime, call: CallScope, admitted: AdmittedCall): MaybePromise<Ending> {
  const { tool, input, access } = admitted;
  call.stage = 'definition';
  const summary = requireString('summary', tool.summary(input));
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

function run(rt: Runtime, call: CallScope, { tool, input, access }: AdmittedCall, at: number): MaybePromise<Ending> {
  call.throwIfCancelled();
  call.stage = 'tool';
  call.admitted = access;
  call.startedAt = at;
  call.startedMonotonic = rt.clock.monotonic();
  const seconds = tool.seconds?.(input, call.ctx);
  const running = call.bounded(tool.run(input, call.ctx), { seconds, evicted: rt.eviction?.signal });
  return isPromise(running) ? running.then((result) => ended(tool, result)) : ended(tool, running);
}

function ended(tool: Tool, result: Result<unknown>): Ending {
  if (!isResult(result)) return ending('failed', notAResult(result));
  if (!result.ok) return failedByItself(result);
  const text = tool.render === undefined ? undefined : requireString('render', tool.render(result.value));
  return ending('succeeded', result, text);
}

const BEFORE_START = ['requested', 'awaiting_approval'] as const;

/**
 * A call with effects waits until its start is recorded, so that a crash leaves a trace. A call that only reads files
 * need not wait: its result is returned after its end is recorded. Network requests are visible to others, so they
 * wait.
 */
function changesNothing({ tool, access, approvedDigest: agreed }: AdmittedCall): boolean {
  return tool.effect === 'pure' && agreed === undefined && access.every(({ kind }) => kind === 'fs.read');
}

/** Describes a dry run. The tool's `run` is never called, so nothing can change. */
async function describe(call: CallScope, { tool, input, wouldAsk }: AdmittedCall): Promise<Ending> {
  call.stage = 'definition';
  const what = (await call.bounded(tool.preview?.(input, call.ctx))) ?? requireString('summary', tool.summary(input));
  const question = wouldAsk === undefined ? '' : `\nIt would need approval first: ${wouldAsk}`;
  return ending('succeeded', ok(`[Dry Run] Would run: ${what}${question}`, { dryRun: true }));
}

/** Returns undefined when the call may run at once. */
function takeTurn(rt: Runtime, call: CallScope, access: readonly Access[]): Promise<void> | undefined {
  const { turn } = call.request;
  if (turn !== undefined) return waitForEarlier(rt, call, { access, turn });
  return takePlace(rt, call, access);
}

/** Waits for conflicting calls of its batch, which may await approval, before it takes a ticket among all calls. */
async function waitForEarlier(
  rt: Runtime,
  call: CallScope,
  { access, turn }: { access: readonly Access[]; turn: Turn },
): Promise<void> {
  await interruptible(turn.wait(access), undefined, call.cancelSignal);
  await takePlace(rt, call, access);
}

function takePlace(rt: Runtime, call: CallScope, access: readonly Access[]): Promise<void> | undefined {
  if (access.length === 0) return undefined;
  call.ticket = rt.locks.take(access, call.context.workingDir, call.request.parent?.ticket);
  const before = rt.locks.turn(call.ticket);
  return before && interruptible(before, undefined, call.cancelSignal);
}

/** A tool that enforces its own timeout or cancellation reports it with these codes. */
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

/** Rejects an async method: it would read "[object Promise]", and its rejection would end the process. */
function requireString(method: string, text: unknown): string {
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
