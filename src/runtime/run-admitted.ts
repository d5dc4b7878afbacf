import type { Access } from '../kernel/access.ts';
import type { FinalState } from '../kernel/call.ts';
import type { ErrorCode } from '../kernel/error.ts';
import type { CallMove } from '../kernel/event.ts';
import { fail, isPromise, isResult, ok, type Result } from '../kernel/result.ts';
import type { Admitted } from './admit.ts';
import type { CallScope, Turn } from './call-scope.ts';
import type { Ending } from './ending.ts';
import { interruptible } from './interruption.ts';
import { record } from './record.ts';
import type { Runtime } from './runtime.ts';

/** wait for the calls before it → record the start → run with a deadline → render. All effects happen here. */
export async function runAdmitted(rt: Runtime, call: CallScope, admitted: Admitted): Promise<Ending> {
  if (call.dryRun) return describe(call, admitted);
  const turn = takeTurn(rt, call, admitted.access);
  if (turn !== undefined) await turn;
  const { tool, input, access } = admitted;

  call.stage = 'admit';
  const { callId, args } = call;
  const data = { tool: tool.name, args, summary: tool.summary(input), access };
  const at = rt.clock.now();
  const move: CallMove = {
    from: ['requested', 'awaiting_approval'],
    to: 'running',
    set: { args, effect: tool.effect, startedAt: at },
  };
  const recorded = record(rt, call, move, { type: 'call.started', callId, at, data });
  if (recorded !== undefined) await recorded;

  call.stage = 'run';
  call.admitted = access;
  call.startedAt = at;
  call.startedMonotonic = rt.clock.monotonic();
  const running = tool.run(input, call);
  const result = isPromise(running) ? await interruptible(running, call.timeout * 1000, call.cancelSignal) : running;
  if (!isResult(result)) return { state: 'failed', result: notAResult(result) };
  if (!result.ok) return { state: STATE_OF[result.error.code] ?? 'failed', result };
  const text = tool.render?.(result.value);
  return text === undefined ? { state: 'succeeded', result } : { state: 'succeeded', result, text };
}

/** Says what would happen. The tool's `run` is never reached, so nothing can change. */
async function describe(call: CallScope, { tool, input, wouldAsk }: Admitted): Promise<Ending> {
  call.stage = 'run';
  const preview = tool.preview?.(input, call);
  const what = isPromise(preview) ? await interruptible(preview, call.timeout * 1000, call.cancelSignal) : preview;
  const question = wouldAsk === undefined ? '' : `\nA person would be asked first: ${wouldAsk}`;
  return {
    state: 'succeeded',
    result: ok(`[Dry Run] Would run: ${what ?? tool.summary(input)}${question}`, { dryRun: true }),
  };
}

/** Undefined when nothing has to be waited for. */
function takeTurn(rt: Runtime, call: CallScope, access: readonly Access[]): Promise<void> | undefined {
  const { turn, parent } = call.request;
  if (turn !== undefined) return afterEarlier(rt, call, access, turn);
  call.ticket = rt.locks.take(access, parent?.ticket);
  if (call.ticket.waitingFor === 0) return undefined;
  return interruptible(rt.locks.turn(call.ticket), undefined, call.cancelSignal);
}

/** First the earlier calls of its batch, which may still be with a person; only then a place among all calls. */
async function afterEarlier(rt: Runtime, call: CallScope, access: readonly Access[], turn: Turn): Promise<void> {
  await interruptible(turn.wait(access), undefined, call.cancelSignal);
  call.ticket = rt.locks.take(access, call.request.parent?.ticket);
  if (call.ticket.waitingFor > 0) await interruptible(rt.locks.turn(call.ticket), undefined, call.cancelSignal);
}

/** A tool that watches its own clock says so with these codes. */
const STATE_OF: Partial<Record<ErrorCode, FinalState>> = { TIMEOUT: 'timed_out', CANCELLED: 'interrupted' };

function notAResult(value: unknown): Result<never> {
  const got = value === undefined ? 'nothing' : `a ${typeof value}`;
  return fail(
    'EXECUTION_ERROR',
    `The tool returned ${got} instead of a result: return ok(value) or fail(code, message).`,
  );
}
