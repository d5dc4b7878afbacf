import type { Message, ResultPart } from '../kernel/call/message.ts';
import { withoutHalfPair } from '../kernel/text/truncate.ts';

/** A message with its place in the log, as far as it is still sent. */
export interface Held {
  readonly seq: number;
  readonly message: Message;
}

/** Keeps a text that is taken out of the conversation and says under which name it can be read; null if it cannot. */
export type Keep = (text: string) => Promise<string | null>;

/** Share of the model's window that a conversation may fill, and to which it is brought down when it does. */
const FULL = 0.75;
const AFTER = 0.5;
/** The latest messages are what the model works with: they stay whole, unless they alone are too much. */
const RECENT = 6;
const LARGE = 600;
const SHOWN = 200;

/**
 * What of a session the model is sent. Grows with the session until it is full; then large old results are replaced by
 * their handle, and if that is not enough the oldest turns go. The first message stays, and the latest of a person: it is
 * the task.
 */
export class ContextWindow {
  readonly #most: number;
  #held: Held[] = [];
  #messages: Message[] = [];
  #tokens = 0;
  #dropped = 0;

  constructor(windowTokens: number) {
    this.#most = windowTokens * FULL;
  }

  /** A log that was pruned may begin in the middle of a turn; what no user message stands before is left out. */
  add(held: Held): void {
    if (this.#held.length === 0 && held.message.role !== 'user') return;
    this.#held.push(held);
    this.#messages.push(held.message);
    this.#tokens += tokensOf(held.message);
  }

  get last(): Held | undefined {
    return this.#held.at(-1);
  }

  /** As it is now: what is added later does not show in it. */
  get messages(): readonly Message[] {
    return [...this.#messages];
  }

  get isFull(): boolean {
    return this.#tokens > this.#most;
  }

  /** False when nothing could be taken out. `to` is the share of the window that is wanted. */
  async shrink(keep: Keep, to: number = AFTER): Promise<boolean> {
    const before = this.#tokens;
    const wanted = (this.#most / FULL) * to;
    await this.#replaceResults(keep, wanted, RECENT);
    if (this.#tokens > wanted) this.#dropTurns(wanted);
    const most = to === AFTER ? this.#most : wanted;
    if (this.#tokens > most) await this.#replaceResults(keep, most, 0);
    return this.#tokens < before;
  }

  async #replaceResults(keep: Keep, wanted: number, recent: number): Promise<void> {
    for (let at = 0; at < this.#held.length - recent; at++) {
      const { seq, message } = this.#held[at] as Held;
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

  /** Whole turns, so that every call that is left has its result: what follows the first message is a turn again. */
  #dropTurns(wanted: number): void {
    const [first, ...rest] = this.#held;
    let dropped = 0;
    let tokens = this.#tokens;
    while (dropped < rest.length - RECENT && (tokens > wanted || rest[dropped]?.message.role === 'results')) {
      tokens -= tokensOf((rest[dropped] as Held).message);
      dropped++;
    }
    if (first === undefined || dropped === 0) return;
    while (dropped < rest.length && rest[dropped]?.message.role === 'results') dropped++;
    const task = rest.findLastIndex(({ message }) => message.role === 'user' && message.from === 'person');
    const stays = ({ message }: Held, at: number) => (at >= dropped || at === task) && !isDropNote(message);
    this.#dropped += rest.filter((held, at) => !stays(held, at) && !isDropNote(held.message)).length;
    const text = `[${this.#dropped} earlier messages of this session were left out to make room. Look again at what you need.]`;
    const kept = rest.filter(stays);
    const note: Held = { seq: first.seq, message: { role: 'user', text, from: 'runtime' } };
    this.#held = [first, note, ...kept];
    this.#messages = this.#held.map(({ message }) => message);
    this.#tokens = this.#messages.reduce((sum, message) => sum + tokensOf(message), 0);
  }

  #put(at: number, held: Held): void {
    this.#tokens += tokensOf(held.message) - tokensOf((this.#held[at] as Held).message);
    this.#held[at] = held;
    this.#messages[at] = held.message;
  }
}

function isDropNote(message: Message): boolean {
  return message.role === 'user' && message.from === 'runtime' && message.text.includes('were left out to make room');
}

function isLarge({ text }: ResultPart): boolean {
  return text.length > LARGE;
}

async function replaced(result: ResultPart, keep: Keep): Promise<ResultPart> {
  const handle = await keep(result.text);
  const where = handle === null ? 'call the tool again if you need it' : `it is kept as artifact ${handle}`;
  const text = `${result.text.slice(0, withoutHalfPair(result.text, SHOWN))}\n[… the rest of this old output was left out to make room; ${where}]`;
  return { ...result, text };
}

/** A guess that is rather too high: three bytes a token holds for code, prose and Chinese alike. */
function tokensOf(message: Message): number {
  return Math.ceil(bytesOf(message) / 3) + 8;
}

function bytesOf(message: Message): number {
  if (message.role === 'user') return Buffer.byteLength(message.text);
  if (message.role === 'results')
    return message.results.reduce((sum, { text, id }) => sum + Buffer.byteLength(text) + id.length + 40, 0);
  return Buffer.byteLength(JSON.stringify(message.parts));
}
