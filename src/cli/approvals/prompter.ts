import { createInterface, type Interface } from 'node:readline';
import type { Cli } from '../cli.ts';
import type { Io } from '../io.ts';
import { PastedText } from './pasted-text.ts';

export interface PrompterOptions {
  onInterrupt(): void;
  /** A line was typed while nothing was read; it is the next message. */
  onQueued?(line: string): void;
  /** Words that may stand for the last one of the line, for the Tab key. */
  complete?(line: string): readonly string[];
}

interface QuestionOptions {
  /** Can be edited in a terminal; Escape then answers with an empty line. */
  readonly prefill?: string;
  readonly signal?: AbortSignal;
}

/**
 * Reads messages and answers from a person, one at a time. At a terminal an answer is only what was typed after its
 * question was shown: lines typed before are messages, and an unfinished line comes back with the next message. From a file,
 * lines are taken as they come.
 */
export class Prompter {
  readonly #rl: Interface;
  readonly #io: Io;
  readonly #pasted: PastedText | undefined;
  readonly #options: PrompterOptions;
  readonly #queued: string[] = [];
  #answer: ((line: string | undefined) => void) | undefined;
  /** The unfinished next message at the time a question was shown. */
  #draft = '';
  #isListening = false;
  #closed = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ io, words }: Pick<Cli, 'io' | 'words'>, options: PrompterOptions) {
    this.#io = io;
    this.#options = options;
    this.#pasted = io.stdin.isTTY ? new PastedText(io, words) : undefined;
    this.#rl = createInterface({
      input: this.#pasted?.keys ?? io.stdin,
      output: io.stdout,
      terminal: io.stdin.isTTY === true,
      historySize: 200,
      completer: (line: string) => this.#complete(line),
    });
    this.#rl.on('line', (line) => this.#heard(this.#pasted?.restore(line) ?? line));
    this.#rl.on('close', () => this.#ended());
    this.#rl.on('SIGINT', () => this.#interrupted());
  }

  /** The next message: the oldest one typed ahead, else one that is typed now. Undefined at the end of input. */
  listen(text: string): Promise<string | undefined> {
    return this.#inTurn(async () => {
      const line = this.#queued.shift();
      if (line === undefined) {
        const prefill = this.#draft;
        this.#draft = '';
        this.#isListening = true;
        return this.#read(text, { prefill }).finally(() => {
          this.#isListening = false;
        });
      }
      if (this.#io.stdin.isTTY) this.#io.stdout.write(`${text}${line}\n`);
      return line;
    });
  }

  /** The answer to a question. Undefined at the end of input or when the signal aborts. */
  ask(text: string, options: QuestionOptions = {}): Promise<string | undefined> {
    return this.#inTurn(async () => {
      const { prefill = '', signal } = options;
      if (signal?.aborted) return undefined;
      if (!this.#io.stdin.isTTY) return this.#queued.shift() ?? this.#read(text, { signal });
      this.#putAside();
      const stopEscaping = prefill === '' ? undefined : this.#leaveOnEscape();
      return this.#read(text, { prefill, signal }).finally(() => stopEscaping?.());
    });
  }

  /** Forgets the messages typed ahead and returns how many there were. */
  dropQueued(): number {
    return this.#queued.splice(0).length;
  }

  /** Leaves the terminal to another program while the work lasts. */
  async leaveTerminal<T>(work: () => Promise<T>): Promise<T> {
    this.#pasted?.pause();
    this.#io.stdin.setRawMode?.(false);
    try {
      return await work();
    } finally {
      this.#io.stdin.setRawMode?.(true);
      this.#pasted?.resume();
    }
  }

  close(): void {
    this.#rl.close();
  }

  #inTurn<T>(read: () => Promise<T>): Promise<T> {
    const next = this.#turn.then(read);
    this.#turn = next.catch(() => {});
    return next;
  }

  async #read(
    text: string,
    { prefill = '', signal }: { prefill?: string; signal?: AbortSignal | undefined },
  ): Promise<string | undefined> {
    if (this.#closed) return undefined;
    this.#rl.setPrompt(text);
    this.#rl.prompt(true);
    if (prefill !== '' && this.#io.stdin.isTTY) this.#rl.write(prefill);
    return new Promise((resolve) => {
      const stop = () => this.#answer?.(undefined);
      signal?.addEventListener('abort', stop, { once: true });
      this.#answer = (answer) => {
        this.#answer = undefined;
        signal?.removeEventListener('abort', stop);
        resolve(answer);
      };
    });
  }

  #heard(line: string): void {
    if (this.#answer !== undefined) this.#answer(line);
    else if (line.trim() !== '') {
      this.#queued.push(line);
      if (this.#io.stdin.isTTY) this.#options.onQueued?.(line);
    }
  }

  /** Takes an unfinished line away, so that it cannot become a part of the answer. */
  #putAside(): void {
    this.#draft += this.#rl.line;
    this.#clearLine();
  }

  #clearLine(): void {
    this.#rl.write(null, { ctrl: true, name: 'e' });
    this.#rl.write(null, { ctrl: true, name: 'u' });
  }

  #leaveOnEscape(): () => void {
    const keys = this.#pasted?.keys;
    const onKey = (_: unknown, key: { name?: string } | undefined) => {
      if (key?.name !== 'escape') return;
      this.#clearLine();
      this.#io.stdout.write('\n');
      this.#answer?.('');
    };
    keys?.on('keypress', onKey);
    return () => void keys?.off('keypress', onKey);
  }

  #complete(line: string): [string[], string] {
    const last = /\S*$/.exec(line)?.[0] ?? '';
    const words = this.#isListening ? (this.#options.complete?.(line) ?? []) : [];
    return [words.filter((word) => word.startsWith(last)), last];
  }

  /** Clears the current line, as a shell does. */
  #interrupted(): void {
    if (this.#answer !== undefined) this.#clearLine();
    this.#options.onInterrupt();
    if (this.#answer !== undefined) this.#rl.prompt();
  }

  #ended(): void {
    this.#closed = true;
    this.#pasted?.close();
    this.#answer?.(undefined);
  }
}
