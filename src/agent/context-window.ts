import type { Message, ResultPart } from '../kernel/call/message.ts';
import { withoutHalfPair } from '../kernel/text/truncate.ts';

/** A message of the window with its position in the log. */
export interface WindowMessage {
  readonly seq: number;
  readonly message: Message;
}

/** Stores a text that leaves the conversation and returns the handle to read it with; null if it cannot. */
export type StoreText = (text: string) => Promise<string | null>;

/** Share of the model's window at which a conversation is shrunk, and the share it is shrunk to. */
const FULL = 0.75;
const AFTER = 0.5;
/** Latest messages, which stay whole unless they alone are too large. */
const RECENT = 6;
const LARGE = 600;
const SHOWN = 200;

/**
 * The part of a session that is sent to the model. When it is full, large old results are replaced by their handle, and
 * then the oldest turns are dropped. The first message stays, and the latest of a person, which is the task.
 */
export class ContextWindow {
  readonly #most: number;
  #held: WindowMessage[] = [];
  #messages: Message[] = [];
  #tokens = 0;
  #dropped = 0;

  constructor(windowTokens: number) {
    this.#most = windowTokens * FULL;
  }

  /** Skips messages before the first user message: a pruned log may begin in the middle of a turn. */
  add(held: WindowMessage): void {
    if (this.#held.length === 0 && held.message.role !== 'user') return;
    this.#held.push(held);
    this.#messages.push(held.message);
    this.#tokens += tokensOf(held.message);
  }

  get last(): WindowMessage | undefined {
    return this.#held.at(-1);
  }

  /** A copy: later additions do not show in it. */
  get messages(): readonly Message[] {
    return [...this.#messages];
  }

  get isFull(): boolean {
    return this.#tokens > this.#most;
  }

  /** Returns false when nothing could be removed. `to` is the wanted share of the window. */
  async shrink(keep: StoreText, to: number = AFTER): Promise<boolean> {
    const before = this.#tokens;
    const wanted = (this.#most / FULL) * to;
    await this.#replaceResults(keep, wanted, RECENT);
    if (this.#tokens > wanted) this.#dropTurns(wanted);
    const most = to === AFTER ? this.#most : wanted;
    if (this.#tokens > most) await this.#replaceResults(keep, most, 0);
    return this.#tokens < before;
  }

  async #replaceResults(keep: StoreText, wanted: number, recent: number): Promise<void> {
    for (let at = 0; at < this.#held.length - recent; at++) {
      const { seq, message } = this.#held[at] as WindowMessage;
      if (message.role !== 'results') continue;
      const results = [...message.results];
      for (const [index, result] of message.results.entries()) {
        if (this.#tokens <= wanted) return;
        if (!isLarge(result)) continue;
        results[index] = await replaced(result, keep);
        this.#put(at, { seq, message: { ...message, results: [...results] } });
      }
    }
  }

  /** Drops whole turns, so that every remaining call has its result. */
  #dropTurns(wanted: number): void {
    const [first, ...rest] = this.#held;
    let dropped = 0;
    let tokens = this.#tokens;
    while (dropped < rest.length - RECENT && (tokens > wanted || rest[dropped]?.message.role === 'results')) {
      tokens -= tokensOf((rest[dropped] as WindowMessage).message);
      dropped++;
    }
    if (first === undefined || dropped === 0) return;
    while (dropped < rest.length && rest[dropped]?.message.role === 'results') dropped++;
    const task = rest.findLastIndex(({ message }) => message.role === 'user' && message.from === 'person');
    const stays = ({ message }: WindowMessage, at: number) => (at >= dropped || at === task) && !isDropNote(message);
    this.#dropped += rest.filter((held, at) => !stays(held, at) && !isDropNote(held.message)).length;
    const text = `[${this.#dropped} earlier messages of this session were dropped to make room. Read again what you need.]`;
    const kept = rest.filter(stays);
    const note: WindowMessage = { seq: first.seq, message: { role: 'user', text, from: 'runtime' } };
    this.#held = [first, note, ...kept];
    this.#messages = this.#held.map(({ message }) => message);
    this.#tokens = this.#messages.reduce((sum, message) => sum + tokensOf(message), 0);
  }

  #put(at: number, held: WindowMessage): void {
    this.#tokens += tokensOf(held.message) - tokensOf((this.#held[at] as WindowMessage).message);
    this.#held[at] = held;
    this.#messages[at] = held.message;
  }
}

function isDropNote(message: Message): boolean {
  return message.role === 'user' && message.from === 'runtime' && message.text.includes('were dropped to make room');
}

function isLarge({ text }: ResultPart): boolean {
  return text.length > LARGE;
}

async function replaced(result: ResultPart, keep: StoreText): Promise<ResultPart> {
  const handle = await keep(result.text);
  const where = handle === null ? 'call the tool again if you need it' : `it is stored as artifact ${handle}`;
  const text = `${result.text.slice(0, withoutHalfPair(result.text, SHOWN))}\n[… the rest of this old output was dropped to make room; ${where}]`;
  return { ...result, text };
}

/** Estimates rather high: three bytes a token holds for code, prose and Chinese alike. */
function tokensOf(message: Message): number {
  return Math.ceil(bytesOf(message) / 3) + 8;
}

function bytesOf(message: Message): number {
  if (message.role === 'user') return Buffer.byteLength(message.text);
  if (message.role === 'results')
    return message.results.reduce((sum, { text, id }) => sum + Buffer.byteLength(text) + id.length + 40, 0);
  return Buffer.byteLength(JSON.stringify(message.parts));
}
