import { createInterface, type Interface } from 'node:readline';
import type { Io } from '../io.ts';

/**
 * Reads lines from a person, one question at a time. Lines that arrive between questions are kept for the next one, so
 * that input from a file works like typing.
 */
export class Prompter {
  readonly #rl: Interface;
  readonly #io: Io;
  readonly #waiting: string[] = [];
  #answer: ((line: string | undefined) => void) | undefined;
  #closed = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(io: Io, { onInterrupt }: { onInterrupt(): void }) {
    this.#io = io;
    this.#rl = createInterface({
      input: io.stdin,
      output: io.stdout,
      terminal: io.stdin.isTTY === true,
      historySize: 200,
    });
    this.#rl.on('line', (line) => this.#heard(line));
    this.#rl.on('close', () => this.#ended());
    this.#rl.on('SIGINT', () => this.#interrupted(onInterrupt));
  }

  /** Resolves with undefined at the end of input or when the signal aborts. `prefill` can be edited in a terminal. */
  ask(
    text: string,
    { prefill = '', signal }: { prefill?: string; signal?: AbortSignal } = {},
  ): Promise<string | undefined> {
    const next = this.#turn.then(() => this.#read(text, prefill, signal));
    this.#turn = next;
    return next;
  }

  /**
   * Drops lines typed before the question was shown, which cannot be meant as its answer. Input from a file is kept.
   */
  forgetTyped(): void {
    if (this.#io.stdin.isTTY) this.#waiting.length = 0;
  }

  close(): void {
    this.#rl.close();
  }

  async #read(text: string, prefill: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    if (signal?.aborted) return undefined;
    const line = this.#waiting.shift();
    if (line !== undefined || this.#closed) return line;
    this.#rl.setPrompt(text);
    this.#rl.prompt();
    if (prefill !== '' && this.#io.stdin.isTTY) this.#rl.write(prefill);
    return new Promise((resolve) => {
      const stop = () => this.#heard(undefined);
      signal?.addEventListener('abort', stop, { once: true });
      this.#answer = (answer) => {
        this.#answer = undefined;
        signal?.removeEventListener('abort', stop);
        resolve(answer);
      };
    });
  }

  #heard(line: string | undefined): void {
    if (this.#answer !== undefined) this.#answer(line);
    else if (line !== undefined && line.trim() !== '') this.#waiting.push(line);
  }

  /** Clears the current line, as a shell does. */
  #interrupted(tell: () => void): void {
    if (this.#answer !== undefined) {
      this.#rl.write(null, { ctrl: true, name: 'e' });
      this.#rl.write(null, { ctrl: true, name: 'u' });
    }
    tell();
    if (this.#answer !== undefined) this.#rl.prompt();
  }

  #ended(): void {
    this.#closed = true;
    this.#answer?.(undefined);
  }
}
