import type { ExecutionContext } from '../kernel/call/execution-context.ts';
import type { AssistantMessage, RunEnd, Stop } from '../kernel/call/message.ts';
import { failpoint } from '../kernel/failpoint.ts';
import type { Clock } from '../kernel/ports.ts';
import type { Model, OfferedTool, TurnDelta } from '../models/model.ts';
import type { ToolExecutor } from '../runtime/executor.ts';
import { answerCalls, callsOf } from './answer-calls.ts';
import { type Budget, overBudget } from './budget.ts';
import type { StoreText } from './context-window.ts';
import { LoopDetector } from './loop-detector.ts';
import type { Session } from './session.ts';

export interface RunEnvironment {
  readonly model: Model;
  readonly executor: ToolExecutor;
  readonly context: ExecutionContext;
  readonly budget: Budget;
  readonly clock: Clock;
  readonly keep: StoreText;
  readonly system: string;
  readonly tools: readonly OfferedTool[];
  readonly signal: AbortSignal | undefined;
  readonly pause: AbortSignal | undefined;
  onDelta(heard: TurnDelta): void;
}

export interface RunEnding {
  readonly reason: RunEnd;
  readonly message: string;
}

/** Pauses or cut-off turns in a row after which the run ends, since continuing does not help. */
const MAX_REPEATS = 3;
/** Longest delay a timer can hold, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Continues until the run is over:
 * the last message is a user's or results  → ask the model, record its turn
 * the last message is the model's          → make its calls, record their results; or end
 * The next step follows from the log alone, so a run that was interrupted anywhere is resumed by the same steps.
 */
export async function driveRun(session: Session, parts: RunEnvironment): Promise<RunEnding> {
  const started = parts.clock.monotonic();
  const { budget } = parts;
  // Also ends work under way: a time limit is for a model or a command that hangs.
  const timeUp =
    budget.seconds === undefined ? undefined : AbortSignal.timeout(Math.min(budget.seconds * 1000, MAX_TIMER_MS));
  const signal = AbortSignal.any([parts.signal, timeUp].filter((one) => one !== undefined));
  // A pause does not wait for a turn, which costs nothing but itself until it is recorded; calls are finished.
  const thinking = parts.pause === undefined ? signal : AbortSignal.any([signal, parts.pause]);
  const loops = new LoopDetector();
  let inARow = 0;
  for (;;) {
    failpoint('agent.step');
    parts.pause?.throwIfAborted();
    const last = session.last;
    if (last?.message.role === 'assistant') {
      const { message, seq } = last;
      const ended = callsOf(message).length > 0 ? await act({ message, seq }) : await conclude(message.stop);
      if (ended !== undefined) return ended;
    } else {
      const ended = await think();
      if (ended !== undefined) return ended;
    }
  }

  async function think(): Promise<RunEnding | undefined> {
    const { model, system, tools, onDelta } = parts;
    const ended = stopped() ?? spent();
    if (ended !== undefined) return ended;
    if (session.window.isFull) await session.window.shrink(parts.keep);
    const turn = await model.turn({ system, tools, messages: session.window.messages }, { signal: thinking, onDelta });
    parts.pause?.throwIfAborted();
    if (!turn.ok) return failed(turn.error.code, turn.error.message);
    if (turn.value.parts.length === 0) return conclude(turn.value.stop);
    failpoint('agent.heard');
    await session.add(session.withOwnIds(turn.value));
    return undefined;
  }

  function stopped(): RunEnding | undefined {
    if (parts.signal?.aborted) return { reason: 'stopped', message: 'Stopped by the user.' };
    if (timeUp?.aborted) return { reason: 'budget', message: `It reached the time limit of ${budget.seconds} s.` };
    return undefined;
  }

  function spent(): RunEnding | undefined {
    const seconds = (parts.clock.monotonic() - started) / 1000;
    const over = session.run && overBudget(budget, session.run, { seconds, price: parts.model.price });
    return over === undefined ? undefined : { reason: 'budget', message: over };
  }

  async function failed(code: string, message: string): Promise<RunEnding | undefined> {
    if (code === 'CANCELLED') return stopped() ?? { reason: 'stopped', message };
    // Our estimate of the size was too low: shrink and try again, as long as something can be removed.
    if (code === 'TOO_LARGE' && ++inARow <= MAX_REPEATS && (await session.window.shrink(parts.keep, 0.25 / inARow)))
      return undefined;
    return { reason: 'failed', message };
  }

  async function act(turn: { message: AssistantMessage; seq: number }): Promise<RunEnding | undefined> {
    const results = await answerCalls(turn, { ...parts, signal });
    failpoint('agent.acted');
    await session.add(results);
    const unexpected = stopped() ?? endOf(turn.message.stop);
    if (unexpected !== undefined) return unexpected;
    const looks = loops.look(turn.message, results);
    if (looks === 'stop') {
      const message = 'It repeated the same calls with the same results. Tell it what to do differently.';
      return { reason: 'loop', message };
    }
    if (looks === 'warn')
      await note(
        'You made the same call three times with the same result. Try something else, or say why you cannot continue.',
      );
    inARow = 0;
    return undefined;
  }

  /** Decides what follows a turn without calls. */
  async function conclude(stop: Stop): Promise<RunEnding | undefined> {
    const ended = endOf(stop);
    if (ended !== undefined) return ended;
    if (stop.reason === 'end' || stop.reason === 'calls') return { reason: 'done', message: '' };
    const told = stopped();
    if (told !== undefined) return told;
    if (++inARow > MAX_REPEATS) {
      const message = `The model did not finish (${stop.reason}) in ${MAX_REPEATS} attempts. Ask for less at once.`;
      return { reason: 'failed', message };
    }
    // A paused turn is not over: it is sent back unchanged and continues.
    if (stop.reason === 'paused') return think();
    if (stop.reason === 'window') await session.window.shrink(parts.keep);
    await note('Your answer was cut off because it was too long. Continue where it stopped.');
    return undefined;
  }

  function note(text: string): Promise<void> {
    return session.add({ role: 'user', text, from: 'runtime' });
  }
}

/** Ends that no further turn would change. */
function endOf({ reason, detail }: Stop): RunEnding | undefined {
  const word = detail === undefined ? '' : ` (${detail})`;
  if (reason === 'refused') return { reason: 'refused', message: `The model declined to answer${word}.` };
  if (reason === 'unknown') return { reason: 'failed', message: `The model stopped for an unknown reason${word}.` };
  return undefined;
}
