import type { InputRequests } from '@modelcontextprotocol/server';
import type { Access } from '../../kernel/tool/access.ts';
import type { Result } from '../../kernel/result.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import type { Review } from '../../runtime/review.ts';

/** How long a question that was handed to a client may wait for it to come back. */
export const ANSWER_SECONDS = 600;

/** What a client answered, by the keys of what it was asked. Nobody has checked it. */
export type Answers = Readonly<Record<string, unknown>>;

/** Something the client must answer before its call can go on. `signal` tells that nobody waits for it any more. */
export interface Question {
  readonly requests: InputRequests;
  readonly signal: AbortSignal;
  answer(answers: Answers): void;
  fail(error: unknown): void;
}

export interface Progress {
  readonly message?: string;
  readonly percent?: number;
  readonly output?: string;
}

/**
 * A call as its client sees it. It goes on between the client's requests: in the 2026 revision a question is the answer
 * to one request, and comes back answered with the next.
 */
export class Run {
  readonly callId: string;
  readonly #asked: readonly [name: string, args: unknown];
  /** Whether the client's user can be shown a form. */
  readonly canAsk: boolean;
  /** Who the client says it is. */
  readonly client: string;
  /** The credential it came with; undefined over a pipe. */
  readonly owner: string | undefined;
  /** What would happen to the call with other arguments. */
  readonly review: (args: unknown) => Promise<Result<Review>>;
  /** What the call touches, once it has started. */
  access: readonly Access[] = [];
  readonly #abort = new AbortController();
  #question: Question | undefined;
  #round = 0;
  #arrived = deferred<Question>();
  #result: Promise<ToolResult> | undefined;
  #sink: ((progress: Progress) => void) | undefined;
  #deserted: NodeJS.Timeout | undefined;

  constructor(init: {
    callId: string;
    name: string;
    args: unknown;
    canAsk: boolean;
    client: string;
    owner?: string | undefined;
    review: Run['review'];
  }) {
    this.callId = init.callId;
    this.#asked = [init.name, init.args];
    this.canAsk = init.canAsk;
    this.client = init.client;
    this.owner = init.owner;
    this.review = init.review;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  start(result: Promise<ToolResult>): void {
    this.#result = result;
  }

  /** A request that goes on with this run must ask for the same. */
  isOf(name: string, args: unknown): boolean {
    return JSON.stringify(this.#asked) === JSON.stringify([name, args]);
  }

  cancel(): void {
    clearTimeout(this.#deserted);
    this.#abort.abort(new Error('the client cancelled the call'));
  }

  /** Asks the client, one question at a time. Rejects when the client cannot answer or the call was cancelled. */
  async ask(requests: InputRequests, signal: AbortSignal = this.signal): Promise<Answers> {
    while (this.#question !== undefined) await ended(this.#question.signal);
    const given = deferred<Answers>();
    const over = new AbortController();
    // At once, so that whoever looks for the next question does not find this one again.
    const close = () => {
      this.#question = undefined;
      this.#arrived = deferred();
      over.abort();
    };
    const fail = (error: unknown) => {
      close();
      given.reject(error);
    };
    const withdraw = () => fail(new Error('nobody waits for the answer any more'));
    const question: Question = {
      requests,
      signal: over.signal,
      fail,
      answer: (answers) => {
        if (!Object.keys(requests).every((key) => Object.hasOwn(answers, key))) return;
        close();
        given.resolve(answers);
      },
    };
    this.#question = question;
    this.#round += 1;
    this.#arrived.resolve(question);
    signal.addEventListener('abort', withdraw, { once: true });
    if (signal.aborted) withdraw();
    try {
      return await given.promise;
    } finally {
      signal.removeEventListener('abort', withdraw);
    }
  }

  /** How many questions there were, so that an answer to an earlier one is not taken for one to the latest. */
  get round(): number {
    return this.#round;
  }

  /** Answers what is asked now. What it leaves out is asked again. */
  answer(answers: Answers, round: number): void {
    if (round === this.#round) this.#question?.answer(answers);
  }

  /** What comes first: the next question, or the end. */
  next(): Promise<Question | ToolResult> {
    if (this.#result === undefined) throw new Error('the run was not started');
    return Promise.race([this.#result, this.#arrived.promise]);
  }

  /** Sends progress there from now on. */
  follow(sink: (progress: Progress) => void): void {
    clearTimeout(this.#deserted);
    this.#sink = sink;
  }

  /** The client was given a question to come back with; if it does not, the call is cancelled. */
  leave(deserted: () => void): void {
    this.#sink = undefined;
    this.#deserted = setTimeout(deserted, ANSWER_SECONDS * 1000);
    this.#deserted.unref();
  }

  progress(progress: Progress): void {
    this.#sink?.(progress);
  }
}

/** A run with its result. */
export interface Ended {
  readonly run: Run;
  readonly result: ToolResult;
}

export function isQuestion(next: Question | ToolResult): next is Question {
  return 'requests' in next;
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

function deferred<T>(): Deferred<T> {
  let resolve!: Deferred<T>['resolve'];
  let reject!: Deferred<T>['reject'];
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
