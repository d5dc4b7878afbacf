import { randomUUID } from 'node:crypto';
import type { EventData, NewEvent, SessionEventType, StoredEvent } from '../kernel/call/event.ts';
import { type AssistantMessage, type Message, NO_USAGE, type Usage } from '../kernel/call/message.ts';
import type { Clock, Store } from '../kernel/ports.ts';
import { wasHidden } from '../secrets/hide-secrets.ts';
import { ContextWindow, type WindowMessage } from './context-window.ts';

const PAGE = 500;

/** Usage of a run that is not finished. */
export interface RunProgress {
  readonly turns: number;
  readonly usage: Usage;
}

interface RunStart {
  readonly model: { readonly name: string; readonly scripted: boolean };
  readonly by: string | null;
  /** Notes in the prompt to which no person has agreed. */
  readonly unfamiliar: readonly string[];
}

/**
 * A session as its agent sees it, built from the log alone, so that every process sees the same. Events are recorded
 * before they are announced.
 */
export class Session {
  readonly id: string;
  readonly window: ContextWindow;
  readonly #store: Store;
  readonly #clock: Clock;
  #tell: (event: StoredEvent) => void = () => {};
  #run: RunProgress | undefined;
  #messages = 0;
  #seen = 0;
  #callIds = new Set<string>();

  constructor(id: string, { store, clock, windowTokens }: { store: Store; clock: Clock; windowTokens: number }) {
    this.id = id;
    this.#store = store;
    this.#clock = clock;
    this.window = new ContextWindow(windowTokens);
  }

  /** Reads events recorded since the last call, by any process. */
  async catchUp(): Promise<void> {
    for (;;) {
      const page = await this.#store.events(this.id, this.#seen, PAGE);
      for (const event of page) this.#apply(asRead(event));
      if (page.length < PAGE) return;
    }
  }

  /** Replaces the listener. */
  listen(tell: (event: StoredEvent) => void): void {
    this.#tell = tell;
  }

  /** Undefined when no run is open. */
  get run(): RunProgress | undefined {
    return this.#run;
  }

  get last(): WindowMessage | undefined {
    return this.window.last;
  }

  async add(message: Message): Promise<void> {
    await this.#append([this.#added(message)]);
  }

  /** Renames the calls of a turn to ids unique in this session: some endpoints restart their count in every turn. */
  withOwnIds(message: AssistantMessage): AssistantMessage {
    const seen = new Set<string>();
    const parts = message.parts.map((part, at) => {
      if (part.type !== 'call') return part;
      const taken = part.id === '' || this.#callIds.has(part.id) || seen.has(part.id);
      const id = taken ? `call_${this.#messages}_${at}` : part.id;
      seen.add(id);
      return taken ? { ...part, id } : part;
    });
    return { ...message, parts };
  }

  /** Records a run and the message it answers, both or neither. An open run continues with the new message. */
  async begin(text: string, { model: { name: model, scripted }, by, unfamiliar }: RunStart): Promise<void> {
    const added = this.#added({ role: 'user', text, from: 'person' }, by);
    const started = this.#event('run.started', {
      ...{ model, scripted },
      ...(unfamiliar.length > 0 && { unfamiliar }),
    });
    await this.#append(this.#run === undefined ? [started, added] : [added]);
  }

  record<T extends SessionEventType>(type: T, data: EventData[T]): Promise<void> {
    return this.#append([this.#event(type, data)]);
  }

  #added(message: Message, by: string | null = null): NewEvent {
    if (message.role === 'results') return this.#event('results.added', { results: message.results });
    const messageId = randomUUID();
    if (message.role === 'user') {
      const role = message.from === 'person' ? 'user' : 'notice';
      return this.#event('message.added', { messageId, role, text: message.text, by });
    }
    return this.#event('message.added', { messageId, role: 'assistant', text: wordsOf(message), turn: message });
  }

  #event<T extends SessionEventType>(type: T, data: EventData[T]): NewEvent {
    return { type, callId: null, at: this.#clock.now(), data } as NewEvent;
  }

  async #append(events: readonly NewEvent[]): Promise<void> {
    for (const stored of await this.#store.append(this.id, events)) {
      this.#apply(stored);
      this.#tell(stored);
    }
  }

  #apply(event: StoredEvent): void {
    this.#seen = Math.max(this.#seen, event.seq);
    if (event.type === 'run.started') this.#run = { turns: 0, usage: NO_USAGE };
    if (event.type === 'run.finished') this.#run = undefined;
    const message = messageIn(event);
    if (message === undefined) return;
    this.#messages++;
    this.window.add({ seq: event.seq, message });
    if (message.role !== 'assistant') return;
    for (const part of message.parts) if (part.type === 'call') this.#remember(part.id);
    const { turns, usage } = this.#run ?? { turns: 0, usage: NO_USAGE };
    this.#run &&= { turns: turns + 1, usage: sum(usage, message.usage) };
  }

  /** Remembers ids, only those that may still be in the window. */
  #remember(id: string): void {
    this.#callIds.add(id);
    if (this.#callIds.size <= MAX_IDS) return;
    this.#callIds = new Set([...this.#callIds].slice(MAX_IDS / 2));
  }
}

const MAX_IDS = 20_000;

/** The message an event of the log adds to the conversation, if any. */
function messageIn(event: StoredEvent): Message | undefined {
  if (event.type === 'results.added') return { role: 'results', results: event.data.results };
  if (event.type !== 'message.added') return undefined;
  const { role, text, turn } = event.data;
  if (role === 'assistant') return turn;
  return { role: 'user', text, from: role === 'user' ? 'person' : 'runtime' };
}

/**
 * Marks calls whose recorded arguments hide something, so that they are not taken for the model's own text. Thinking
 * with
 * hidden parts is left out, because its signature no longer fits.
 */
function asRead(event: StoredEvent): StoredEvent {
  if (event.type !== 'message.added' || event.data.turn === undefined) return event;
  const { turn } = event.data;
  const parts = turn.parts
    .filter((part) => part.type !== 'thinking' || !part.isIncomplete)
    .map((part) => (part.type === 'call' && wasHidden(part.args) ? ({ ...part, isIncomplete: true } as const) : part));
  return { ...event, data: { ...event.data, turn: { ...turn, parts } } };
}

/** The text of a turn for a person. */
export function wordsOf({ parts }: AssistantMessage): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

function sum(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}
