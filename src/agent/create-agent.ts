import { messageOf } from '../kernel/error.ts';
import type { LiveEvent, StoredEvent } from '../kernel/call/event.ts';
import { ExecutionContext, type ExecutionContextInit } from '../kernel/call/execution-context.ts';
import { NO_USAGE, type RunEnd, type Usage } from '../kernel/call/message.ts';
import type { BlobStore, Clock, Hold, Store } from '../kernel/ports.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { systemClock } from '../kernel/system-clock.ts';
import type { Files } from '../kernel/world/workspace.ts';
import type { Heard, Model } from '../models/model.ts';
import type { ToolExecutor } from '../runtime/executor.ts';
import { answerCalls, callsOf } from './answer-calls.ts';
import { type Budget, costOf } from './budget.ts';
import { driveRun, type Ended, type RunParts } from './drive-run.ts';
import { readProjectNotes } from './project-notes.ts';
import { Session, wordsOf } from './session.ts';
import { systemPrompt } from './system-prompt.ts';

export interface AgentOptions {
  readonly model: Model;
  readonly executor: ToolExecutor;
  /** Where sessions live: the one the executor records its calls in. */
  readonly store: Store;
  readonly context: ExecutionContext | ExecutionContextInit;
  /** Where long results go when the conversation gets too long. Without it they are lost to the model. */
  readonly blobs?: BlobStore;
  /** The workspace, for its AGENTS.md and its skills. */
  readonly files?: Pick<Files, 'readText' | 'list'>;
  /** Default: 100 turns. */
  readonly budget?: Budget;
  /** Added to what the model is told first. */
  readonly instructions?: string;
  readonly clock?: Clock;
}

export interface RunOptions {
  /** Who said it. */
  readonly by?: string;
  readonly signal?: AbortSignal;
  /** Leaves the run open before its next step, for `resume`: the calls it is at end by themselves. */
  readonly pause?: AbortSignal;
  /** Recorded events of the session itself after they were recorded, and the model's words as they come. */
  onEvent?(event: StoredEvent | LiveEvent): void;
}

export interface RunOutcome {
  readonly reason: RunEnd;
  /** Why it ended, where it was not the model's own end. */
  readonly message: string;
  /** The model's last words. */
  readonly text: string;
  readonly turns: number;
  readonly usage: Usage;
  /** Undefined when the model has no price. */
  readonly cost: number | undefined;
}

/**
 * A model that works through tools. A session lives in the store: a run that its process left behind goes on with
 * `resume`, in whatever process. CONFLICT while the session has a run under way, here or elsewhere, INTERNAL when the store fails.
 */
export interface Agent {
  run(session: string, message: string, options?: RunOptions): Promise<Result<RunOutcome>>;
  /** Null when the session has no open run. */
  resume(session: string, options?: RunOptions): Promise<Result<RunOutcome | null>>;
}

/** Sessions that are kept ready; the others are read from the store again. */
const MOST_READY = 50;

export function createAgent(options: AgentOptions): Agent {
  const { model, executor, store, blobs, files, budget = { turns: 100 }, clock = systemClock } = options;
  const ready = new Map<string, Session>();
  const busy = new Set<string>();

  return {
    run(id, text, runOptions = {}) {
      return alone(id, async () => {
        const session = await opened(id, runOptions);
        const parts = await partsFor(id, runOptions);
        await answerOpenCalls(session, parts);
        await session.begin(text, model, runOptions.by ?? null);
        return outcomeOf(session, await driveRun(session, parts));
      });
    },
    resume(id, runOptions = {}) {
      return alone(id, async () => {
        const session = await opened(id, runOptions);
        if (session.run === undefined) return null;
        return outcomeOf(session, await driveRun(session, await partsFor(id, runOptions)));
      });
    },
  };

  /** One run of a session at a time. */
  async function alone<T>(id: string, work: () => Promise<T>): Promise<Result<T>> {
    if (busy.has(id)) return fail('CONFLICT', underWay(id, 'this process'));
    busy.add(id);
    let hold: Hold | undefined;
    try {
      hold = await store.hold?.(id);
      if (hold !== undefined && 'holder' in hold) return fail('CONFLICT', underWay(id, hold.holder));
      return ok(await work());
    } catch (error) {
      ready.delete(id);
      return fail('INTERNAL', `The run cannot go on: ${messageOf(error)}. What was recorded stays; resume it later.`);
    } finally {
      busy.delete(id);
      // What cannot be given back ends with this process.
      if (hold !== undefined && 'release' in hold) await Promise.resolve(hold.release()).catch(() => {});
    }
  }

  async function opened(id: string, { onEvent }: RunOptions): Promise<Session> {
    const session = ready.get(id) ?? new Session(id, { store, clock, windowTokens: model.window });
    ready.delete(id);
    ready.set(id, session);
    for (const oldest of ready.keys()) if (ready.size > MOST_READY && !busy.has(oldest)) ready.delete(oldest);
    session.listen((event) => onEvent?.(event));
    await session.catchUp();
    return session;
  }

  async function partsFor(id: string, { signal, pause, onEvent }: RunOptions): Promise<RunParts> {
    const notes = files === undefined ? undefined : await readProjectNotes(files);
    const onHeard = (data: Heard) => {
      onEvent?.({ type: 'message.streamed', session: id, callId: null, at: clock.now(), data });
    };
    return {
      model,
      executor,
      context: new ExecutionContext({ ...options.context, sessionId: id }),
      budget,
      clock,
      keep: async (text) => (blobs === undefined ? null : blobs.put(Buffer.from(text))),
      system: systemPrompt(notes, options.instructions),
      tools: executor.offered().map(({ name, description, input }) => ({ name, description, schema: input.json })),
      signal,
      pause,
      onHeard,
    };
  }

  async function outcomeOf(session: Session, { reason, message }: Ended): Promise<RunOutcome> {
    const { turns, usage } = session.run ?? { turns: 0, usage: NO_USAGE };
    await session.record('run.finished', { reason, message, turns, usage });
    const cost = model.price && costOf(usage, model.price);
    return { reason, message, text: lastWords(session), turns, usage, cost };
  }
}

function underWay(session: string, holder: string): string {
  return `Session ${session} has a run under way in ${holder}: wait for its end, or stop it there.`;
}

/** What an earlier process left open: each of its calls gets its result before anything new is said. */
async function answerOpenCalls(session: Session, parts: RunParts): Promise<void> {
  const { run, last } = session;
  if (run === undefined || last?.message.role !== 'assistant' || callsOf(last.message).length === 0) return;
  await session.add(await answerCalls({ message: last.message, seq: last.seq }, parts));
}

function lastWords({ last }: Session): string {
  if (last?.message.role !== 'assistant') return '';
  return wordsOf(last.message);
}
