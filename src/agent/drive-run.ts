import type { ExecutionContext } from '../kernel/call/execution-context.ts';
import { failpoint } from '../kernel/failpoint.ts';
import type { AssistantMessage, RunEnd, Stop } from '../kernel/call/message.ts';
import type { Clock } from '../kernel/ports.ts';
import type { Heard, Model, OfferedTool } from '../models/model.ts';
import type { ToolExecutor } from '../runtime/executor.ts';
import { answerCalls, callsOf } from './answer-calls.ts';
import { type Budget, overBudget } from './budget.ts';
import type { Keep } from './context-window.ts';
import { LoopDetector } from './loop-detector.ts';
import type { Session } from './session.ts';

export interface RunParts {
  readonly model: Model;
  readonly executor: ToolExecutor;
  readonly context: ExecutionContext;
  readonly budget: Budget;
  readonly clock: Clock;
  readonly keep: Keep;
  readonly system: string;
  readonly tools: readonly OfferedTool[];
  readonly signal: AbortSignal | undefined;
  readonly pause: AbortSignal | undefined;
  onHeard(heard: Heard): void;
}

export interface Ended {
  readonly reason: RunEnd;
  readonly message: string;
}

/** A model that only ever pauses, or only ever talks past its limit, is not helped by going on. */
const MOST_IN_A_ROW = 3;
/** What a timer can hold, in milliseconds. */
const LONGEST = 2 ** 31 - 1;

/**
 * Goes on until the run is over:
 *   the last message is a user's or results  → ask the model, record its turn
 *   the last message is the model's          → make its calls, record their results; or it is the end
 * What comes next follows from the log alone, so a run that was cut off anywhere is taken up by the same steps.
 */
export async function driveRun(session: Session, parts: RunParts): Promise<Ended> {
  const started = parts.clock.monotonic();
  const { budget } = parts;
  // Also ends what is under way: a model or a command that hangs is what a limit on time is for.
  const timeUp =
    budget.seconds === undefined ? undefined : AbortSignal.timeout(Math.min(budget.seconds * 1000, LONGEST));
  const signal = AbortSignal.any([parts.signal, timeUp].filter((one) => one !== undefined));
  // A turn that was not recorded costs nothing but itself, so a pause does not wait for it; calls are finished.
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

  async function think(): Promise<Ended | undefined> {
    const { model, system, tools, onHeard } = parts;
    const ended = stopped() ?? spent();
    if (ended !== undefined) return ended;
    if (session.window.isFull) await session.window.shrink(parts.keep);
    const turn = await model.turn({ system, tools, messages: session.window.messages }, { signal: thinking, onHeard });
    parts.pause?.throwIfAborted();
    if (!turn.ok) return failed(turn.error.code, turn.error.message);
    if (turn.value.parts.length === 0) return conclude(turn.value.stop);
    failpoint('agent.heard');
    await session.add(session.withOwnIds(turn.value));
    return undefined;
  }

  function stopped(): Ended | undefined {
    if (parts.signal?.aborted) return { reason: 'stopped', message: 'It was told to stop.' };
    if (timeUp?.aborted) return { reason: 'budget', message: `It took ${budget.seconds} s, and no more were allowed.` };
    return undefined;
  }

  function spent(): Ended | undefined {
    const seconds = (parts.clock.monotonic() - started) / 1000;
    const over = session.run && overBudget(budget, session.run, { seconds, price: parts.model.price });
    return over === undefined ? undefined : { reason: 'budget', message: over };
  }

  async function failed(code: string, message: string): Promise<Ended | undefined> {
    if (code === 'CANCELLED') return stopped() ?? { reason: 'stopped', message };
    // Our guess at its size was too low: take out more and try again, as long as there is something to take out.
    if (code === 'TOO_LARGE' && ++inARow <= MOST_IN_A_ROW && (await session.window.shrink(parts.keep, 0.25 / inARow)))
      return undefined;
    return { reason: 'failed', message };
  }

  async function act(turn: { message: AssistantMessage; seq: number }): Promise<Ended | undefined> {
    const results = await answerCalls(turn, { ...parts, signal });
    failpoint('agent.acted');
    await session.add(results);
    const unexpected = stopped() ?? endOf(turn.message.stop);
    if (unexpected !== undefined) return unexpected;
    const looks = loops.look(turn.message, results);
    if (looks === 'stop') {
      const message =
        'It made the same calls with the same results again and again. Say what it should do differently.';
      return { reason: 'loop', message };
    }
    if (looks === 'warn')
      await note(
        'You made the same call three times with the same result. Do something else, or say why you cannot go on.',
      );
    inARow = 0;
    return undefined;
  }

  /** After a turn without calls. */
  async function conclude(stop: Stop): Promise<Ended | undefined> {
    const ended = endOf(stop);
    if (ended !== undefined) return ended;
    if (stop.reason === 'end' || stop.reason === 'calls') return { reason: 'done', message: '' };
    const told = stopped();
    if (told !== undefined) return told;
    if (++inARow > MOST_IN_A_ROW) {
      const message = `The model did not come to an end (${stop.reason}) in ${MOST_IN_A_ROW} tries. Ask for less at once.`;
      return { reason: 'failed', message };
    }
    // A pause is not the end of its turn: it is sent back as it is, and goes on.
    if (stop.reason === 'paused') return think();
    if (stop.reason === 'window') await session.window.shrink(parts.keep);
    await note('Your answer was cut off because it was too long. Go on where it stopped.');
    return undefined;
  }

  function note(text: string): Promise<void> {
    return session.add({ role: 'user', text, from: 'runtime' });
  }
}

/** Ends that no further turn would change. */
function endOf({ reason, detail }: Stop): Ended | undefined {
  const word = detail === undefined ? '' : ` (${detail})`;
  if (reason === 'refused') return { reason: 'refused', message: `The model declined to answer${word}.` };
  if (reason === 'unknown')
    return { reason: 'failed', message: `The model stopped for a reason that is not known here${word}.` };
  return undefined;
}
