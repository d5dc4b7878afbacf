import type { LiveEvent, StoredEvent } from '../kernel/call/event.ts';
import { ExecutionContext, type ExecutionContextInit } from '../kernel/call/execution-context.ts';
import { NO_USAGE, type RunEnd, type Usage } from '../kernel/call/message.ts';
import { messageOf } from '../kernel/error.ts';
import type { BlobStore, Clock, SessionHold, Store } from '../kernel/ports.ts';
import { systemClock } from '../kernel/ports.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Files } from '../kernel/world/workspace.ts';
import type { Model, TurnDelta } from '../models/model.ts';
import type { ToolExecutor } from '../runtime/executor.ts';
import { answerCalls, callsOf } from './answer-calls.ts';
import { type Budget, costOf } from './budget.ts';
import { driveRun, type RunEnding, type RunEnvironment } from './drive-run.ts';
import { type NoteText, type ProjectNotes, readProjectNotes, unfamiliarNotes } from './project-notes.ts';
import { Session, wordsOf } from './session.ts';
import { systemPrompt } from './system-prompt.ts';

export interface AgentOptions {
  readonly model: Model;
  readonly executor: ToolExecutor;
  /** Store of the sessions; the one in which the executor records its calls. */
  readonly store: Store;
  readonly context: ExecutionContext | ExecutionContextInit;
  /** Store for long results when the conversation gets too long. Without it the model loses them. */
  readonly blobs?: BlobStore;
  /** The workspace, for its AGENTS.md and its skills. */
  readonly files?: Pick<Files, 'readText' | 'list'>;
  /** Whether a person has agreed to such a text. With it, any other one counts as untrusted text in the session. */
  readonly isAgreed?: (note: NoteText) => boolean;
  /** Default: 100 turns. */
  readonly budget?: Budget;
  /** Added to the system prompt. */
  readonly instructions?: string;
  readonly clock?: Clock;
}

export interface RunOptions {
  /** Author of the message. */
  readonly by?: string;
  readonly signal?: AbortSignal;
  /** Leaves the run open before its next step, for `resume`; running calls finish. */
  readonly pause?: AbortSignal;
  /** Receives events of the session after they were recorded, and the model's text as it streams. */
  onEvent?(event: StoredEvent | LiveEvent): void;
}

export interface RunOutcome {
  readonly reason: RunEnd;
  /** Why the run ended, unless the model itself ended it. */
  readonly message: string;
  /** Last text of the model. */
  readonly text: string;
  readonly turns: number;
  readonly usage: Usage;
  /** Undefined when the model has no price. */
  readonly cost: number | undefined;
}

/**
 * A model that works through tools. A session lives in the store: `resume` continues a run that another process left
 * open. Fails with CONFLICT while the session has a run under way anywhere, INTERNAL when the store fails.
 */
export interface Agent {
  run(session: string, message: string, options?: RunOptions): Promise<Result<RunOutcome>>;
  /** Resolves with null when the session has no open run. */
  resume(session: string, options?: RunOptions): Promise<Result<RunOutcome | null>>;
}

/** Sessions kept in memory; others are read from the store again. */
const MAX_OPEN_SESSIONS = 50;

export function createAgent(options: AgentOptions): Agent {
  const { model, executor, store, blobs, files, budget = { turns: 100 }, clock = systemClock } = options;
  const { isAgreed = () => true } = options;
  const ready = new Map<string, Session>();
  const busy = new Set<string>();

  return {
    run(id, text, runOptions = {}) {
      return alone(id, async () => {
        const session = await opened(id, runOptions);
        const notes = await readNotes();
        const parts = partsFor(id, notes, runOptions);
        await answerOpenCalls(session, parts);
        const unfamiliar = notes === undefined ? [] : unfamiliarNotes(notes, isAgreed);
        await session.begin(text, { model, by: runOptions.by ?? null, unfamiliar });
        return outcomeOf(session, await driveRun(session, parts));
      });
    },
    resume(id, runOptions = {}) {
      return alone(id, async () => {
        const session = await opened(id, runOptions);
        if (session.run === undefined) return null;
        return outcomeOf(session, await driveRun(session, partsFor(id, await readNotes(), runOptions)));
      });
    },
  };

  /** Runs one task of a session at a time. */
  async function alone<T>(id: string, work: () => Promise<T>): Promise<Result<T>> {
    if (busy.has(id)) return fail('CONFLICT', runUnderWay(id, 'this process'));
    busy.add(id);
    let hold: SessionHold | undefined;
    try {
      hold = await store.hold?.(id);
      if (hold !== undefined && 'holder' in hold) return fail('CONFLICT', runUnderWay(id, hold.holder));
      return ok(await work());
    } catch (error) {
      ready.delete(id);
      return fail('INTERNAL', `The run cannot continue: ${messageOf(error)}. Its record is kept; resume it later.`);
    } finally {
      busy.delete(id);
      // A lock that cannot be released ends with this process.
      if (hold !== undefined && 'release' in hold) await Promise.resolve(hold.release()).catch(() => {});
    }
  }

  async function opened(id: string, { onEvent }: RunOptions): Promise<Session> {
    const session = ready.get(id) ?? new Session(id, { store, clock, windowTokens: model.window });
    ready.delete(id);
    ready.set(id, session);
    for (const oldest of ready.keys()) if (ready.size > MAX_OPEN_SESSIONS && !busy.has(oldest)) ready.delete(oldest);
    session.listen((event) => onEvent?.(event));
    await session.catchUp();
    return session;
  }

  async function readNotes(): Promise<ProjectNotes | undefined> {
    return files === undefined ? undefined : readProjectNotes(files);
  }

  function partsFor(
    id: string,
    notes: ProjectNotes | undefined,
    { signal, pause, onEvent }: RunOptions,
  ): RunEnvironment {
    const onDelta = (data: TurnDelta) => {
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
      onDelta,
    };
  }

  async function outcomeOf(session: Session, { reason, message }: RunEnding): Promise<RunOutcome> {
    const { turns, usage } = session.run ?? { turns: 0, usage: NO_USAGE };
    await session.record('run.finished', { reason, message, turns, usage });
    const cost = model.price && costOf(usage, model.price);
    return { reason, message, text: lastWords(session), turns, usage, cost };
  }
}

function runUnderWay(session: string, holder: string): string {
  return `Session ${session} has a run under way in ${holder}: wait for its end, or stop it there.`;
}

/** Answers the calls an earlier process left open, before anything new is said. */
async function answerOpenCalls(session: Session, parts: RunEnvironment): Promise<void> {
  const { run, last } = session;
  if (run === undefined || last?.message.role !== 'assistant' || callsOf(last.message).length === 0) return;
  await session.add(await answerCalls({ message: last.message, seq: last.seq }, parts));
}

function lastWords({ last }: Session): string {
  if (last?.message.role !== 'assistant') return '';
  return wordsOf(last.message);
}
