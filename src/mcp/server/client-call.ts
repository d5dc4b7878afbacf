import type { InputRequests } from '@modelcontextprotocol/server';
import type { Result } from '../../kernel/result.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import type { Review } from '../../runtime/pipeline/review.ts';

/** How long a question handed to a client may stay unanswered. */
export const ANSWER_SECONDS = 600;

/** The client's answers by the keys of its questions; unchecked. */
export type ClientAnswers = Readonly<Record<string, unknown>>;

/** A question the client must answer before its call continues. `signal` aborts when the answer is no longer needed. */
export interface ClientQuestion {
  readonly requests: InputRequests;
  readonly signal: AbortSignal;
  answer(answers: ClientAnswers): void;
  fail(error: unknown): void;
}

export interface ClientProgress {
  readonly message?: string;
  readonly percent?: number;
  readonly output?: string;
}

/**
 * A call as its client sees it. It continues between requests: in the 2026 revision a question is the response to one
 * request, and its answer arrives with the next.
 */
export class ClientCall {
  readonly callId: string;
  readonly #asked: readonly [name: string, args: unknown];
  /** Whether the client's user can be shown a form. */
  readonly canAsk: boolean;
  /** Name the client gave for itself. */
  readonly client: string;
  /** Credential of the client; undefined over a pipe. */
  readonly owner: string | undefined;
  /** Judges the call with other arguments. */
  readonly review: (args: unknown) => Promise<Result<Review>>;
  /** Accesses of the call, once it has started. */
  access: readonly Access[] = [];
  readonly #abort = new AbortController();
  #question: ClientQuestion | undefined;
  #round = 0;
  #arrived = deferred<ClientQuestion>();
  #result: Promise<ToolResult> | undefined;
  #sink: ((progress: ClientProgress) => void) | undefined;
  #deserted: NodeJS.Timeout | undefined;

  constructor(init: {
    callId: string;
    name: string;
    args: unknown;
    canAsk: boolean;
    client: string;
    owner?: string | undefined;
    review: ClientCall['review'];
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

  /** Whether a request that continues this call names the same tool and arguments. */
  isOf(name: string, args: unknown): boolean {
    return JSON.stringify(this.#asked) === JSON.stringify([name, args]);
  }

  cancel(): void {
    clearTimeout(this.#deserted);
    this.#abort.abort(new Error('the client cancelled the call'));
  }

  /** Asks the client, one question at a time. Rejects when the client cannot answer or the call was cancelled. */
  async ask(requests: InputRequests, signal: AbortSignal = this.signal): Promise<ClientAnswers> {
    while (this.#question !== undefined) await ended(this.#question.signal);
    const given = deferred<ClientAnswers>();
    const over = new AbortController();
    // Closed synchronously, so that `next` does not find this question again.
    const close = () => {
      this.#question = undefined;
      this.#arrived = deferred();
      over.abort();
    };
    const fail = (error: unknown) => {
      close();
      given.reject(error);
    };
    const withdraw = () => fail(new Error('the answer is no longer needed'));
    const question: ClientQuestion = {
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

  /** Number of questions so far, so that an answer to an earlier question is not taken for the latest. */
  get round(): number {
    return this.#round;
  }

  /** Answers the current question. Parts left out are asked again. */
  answer(answers: ClientAnswers, round: number): void {
    if (round === this.#round) this.#question?.answer(answers);
  }

  /** Resolves with the next question or the result, whichever comes first. */
  next(): Promise<ClientQuestion | ToolResult> {
    if (this.#result === undefined) throw new Error('the run was not started');
    return Promise.race([this.#result, this.#arrived.promise]);
  }

  /** Sends progress to this sink from now on. */
  follow(sink: (progress: ClientProgress) => void): void {
    clearTimeout(this.#deserted);
    this.#sink = sink;
  }

  /** Cancels the call unless the client comes back with an answer in time. */
  leave(deserted: () => void): void {
    this.#sink = undefined;
    this.#deserted = setTimeout(deserted, ANSWER_SECONDS * 1000);
    this.#deserted.unref();
  }

  progress(progress: ClientProgress): void {
    this.#sink?.(progress);
  }
}

/** A client call with its result. */
export interface FinishedClientCall {
  readonly run: ClientCall;
  readonly result: ToolResult;
}

export function isQuestion(next: ClientQuestion | ToolResult): next is ClientQuestion {
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
