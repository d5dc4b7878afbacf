import type { CallMove, EventData } from '../../kernel/call/event.ts';
import { fail, isPromise, isResult, type MaybePromise, type Result } from '../../kernel/result.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import { takeTurn } from '../order/take-turn.ts';
import type { Runtime } from '../runtime.ts';
import { isStale, judgeAgain } from './admit.ts';
import { CallContext } from './call-context.ts';
import { type CallScope, type Ending, ending, failedByItself } from './call-scope.ts';
import { dryRun } from './dry-run.ts';
import { Interruption, interruptible } from './interruption.ts';
import type { PlannedCall } from './judge-call.ts';
import { requireString } from './present-call.ts';
import { record } from './record.ts';

/**
 * wait for earlier calls → judge again if they changed anything → record the start → run with a timeout → render. All
 * effects happen here.
 */
export function runAdmitted(rt: Runtime, call: CallScope, admitted: PlannedCall): MaybePromise<Ending> {
  if (call.context.dryRun) return dryRun(rt, call, admitted);
  const turn = takeTurn(rt.locks, call, admitted.access);
  if (turn !== undefined) return turn.then(() => runInTurn(rt, call, admitted));
  return runInTurn(rt, call, admitted);
}

function runInTurn(rt: Runtime, call: CallScope, admitted: PlannedCall): MaybePromise<Ending> {
  call.throwIfCancelled();
  if (!isStale(rt, call, admitted)) return start(rt, call, admitted);
  return judgeAgain(rt, call, admitted).then((now) => {
    if (now.kind === 'ending') return now;
    return now.mayStart ? start(rt, call, now.planned) : runAdmitted(rt, call, now.planned);
  });
}

function start(rt: Runtime, call: CallScope, admitted: PlannedCall): MaybePromise<Ending> {
  const { tool, input, access } = admitted;
  call.stage = 'definition';
  const summary = requireString('summary', tool.summary(input));
  const { callId, args } = call;
  const at = rt.clock.now();
  const move: CallMove = { from: BEFORE_START, to: 'running', set: { args, effect: tool.effect, startedAt: at } };
  const data: EventData['call.started'] = { tool: tool.name, args, summary, access, effect: tool.effect };
  if (rt.world.collects?.(call.session)) data.collected = true;
  if (tool.flow?.brings !== undefined) data.brings = tool.flow.brings;
  const recorded = record(rt, call, move, { type: 'call.started', callId, at, data });
  if (recorded === undefined || changesNothing(admitted)) return run(rt, call, admitted, at);
  return recorded.then(() => run(rt, call, admitted, at));
}

function run(rt: Runtime, call: CallScope, planned: PlannedCall, at: number): MaybePromise<Ending> {
  const { tool, input, access, places, derived, agreedPaths } = planned;
  call.throwIfCancelled();
  call.stage = 'tool';
  call.admitted = access;
  call.places = places;
  call.agreedPaths = agreedPaths;
  call.startedAt = at;
  call.startedMonotonic = rt.clock.monotonic();
  const seconds = tool.seconds?.(input, call.ctx);
  const work = tool.run(derived === undefined ? input : derived.plan, call.ctx);
  const running = call.bounded(work, { seconds, evicted: rt.eviction?.signal });
  if (!isPromise(running)) return ended(tool, running);
  return running.then(
    (result) => ended(tool, result),
    (thrown) => endAfterCancel(call, { tool, work, thrown }),
  );
}

const CANCEL_GRACE_MS = 10_000;

/** Tells a cancelled tool to stop and waits for its own result, where it has one soon: its output until then is in there. */
async function endAfterCancel(
  call: CallScope,
  { tool, work, thrown }: { tool: Tool; work: MaybePromise<Result<unknown>>; thrown: unknown },
): Promise<Ending> {
  const isCancelled = Interruption.is(thrown) && thrown.why === 'cancelled' && call.cancelSignal?.aborted === true;
  if (!isCancelled || tool.endsOnAbort !== true) throw thrown;
  CallContext.abort(call.ctx, `${tool.name} was cancelled`);
  const result = await interruptible(Promise.resolve(work), CANCEL_GRACE_MS).catch(() => {
    throw thrown;
  });
  if (!result.ok) return failedByItself(result);
  const text = ended(tool, result).text ?? '';
  const message = `${tool.name} was cancelled after it had ended by itself. Its result:\n${text}`;
  return ending('interrupted', fail('CANCELLED', message, { phase: 'interrupted' }));
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
function changesNothing({ tool, access, approvedDigest }: PlannedCall): boolean {
  return tool.effect === 'pure' && approvedDigest === undefined && access.every(({ kind }) => kind === 'fs.read');
}

function notAResult(value: unknown): Result<never> {
  const got = value === undefined ? 'nothing' : `a ${typeof value}`;
  return fail(
    'EXECUTION_ERROR',
    `The tool returned ${got} instead of a result: return ok(value) or fail(code, message).`,
  );
}
