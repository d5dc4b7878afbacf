import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { messageOf } from '../kernel/error.ts';
import { failureOfStatus, type TurnFailure, turnFailure } from './turn-failure.ts';

export interface GuardedRequestOptions {
  /** Start of a sentence: "The Messages endpoint api.anthropic.com". */
  readonly who: string;
  /** All headers that are sent, whatever a provider's library found in its environment. */
  readonly headers: Readonly<Record<string, string>>;
  /** Silence after which a stream counts as dead. Default 120 s. */
  readonly stallMs?: number;
}

const MAX_ERROR_BYTES = 16 * 1024;

/**
 * One request of a provider's library, with limits on time and size; `failure` is the reason in our own words. It uses
 * Node's client, which follows no redirect, so the key is sent nowhere else.
 */
export class GuardedRequest {
  readonly #options: GuardedRequestOptions;
  #timer: NodeJS.Timeout | undefined;
  #call: (ClientRequest & { res?: IncomingMessage }) | undefined;
  #ended: string | undefined;
  failure: TurnFailure | undefined;

  constructor(options: GuardedRequestOptions) {
    this.#options = options;
  }

  /** Rejects unless the answer is a stream of events. */
  async post(url: string, body: string): Promise<Response> {
    const { who, stallMs = 120_000 } = this.#options;
    this.#timer = setTimeout(() => this.stop(`nothing came for ${stallMs / 1000} s`), stallMs);
    const answer = await this.#send(url, body).catch((error) => this.#broken(error));
    const status = answer.statusCode ?? 0;
    const type = answer.headers['content-type'] ?? 'nothing';
    if (status < 200 || status > 299)
      throw this.#refused(failureOfStatus(who, { status, headers: answer.headers }, await this.#beginning(answer)));
    if (!type.includes('event-stream')) throw this.#refused(noStream(who, type, await this.#beginning(answer)));
    // The parts of a Response the libraries use. A real one would add a web stream, which costs more than all the rest.
    return { ok: true, status, headers: new Headers(), body: this.#bytes(answer) } as unknown as Response;
  }

  stop(why: string): void {
    this.#ended ??= why;
    this.#call?.destroy(new Error(why));
  }

  /** Keeps the connection for the next turn after a complete answer; otherwise ends it. */
  close(): void {
    clearTimeout(this.#timer);
    if (!this.#call?.res?.complete) this.#call?.destroy();
  }

  #send(url: string, body: string): Promise<IncomingMessage> {
    const request = url.startsWith('https:') ? httpsRequest : httpRequest;
    const length = Buffer.byteLength(body);
    const own = { 'content-type': 'application/json', accept: 'text/event-stream', 'content-length': length };
    return new Promise((resolve, reject) => {
      const call = request(url, { method: 'POST', headers: { ...own, ...this.#options.headers } });
      call.once('response', resolve);
      call.on('error', reject);
      call.end(body);
      this.#call = call;
      if (this.#ended !== undefined) this.stop(this.#ended);
    });
  }

  async *#bytes(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const bound = new EventSizeGuard();
    try {
      for await (const chunk of answer) {
        this.#timer?.refresh();
        bound.add(chunk);
        yield chunk;
      }
    } catch (error) {
      this.#broken(error);
    }
  }

  async #beginning(answer: AsyncIterable<Uint8Array>): Promise<string> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this.#bytes(answer)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_ERROR_BYTES) break;
    }
    return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES).toString('utf8');
  }

  #broken(error: unknown): never {
    const why = this.#ended ?? messageOf(error);
    const message = `${this.#options.who} cannot be reached or broke off: ${why}`;
    throw this.#refused(turnFailure('NETWORK_ERROR', message, { retry: true }));
  }

  /** Keeps the first failure, which is the cause of the later ones. */
  #refused(found: TurnFailure): Error {
    this.failure ??= found;
    return new Error(found.failure.message);
  }
}

function noStream(who: string, type: string, said: string): TurnFailure {
  const began = said.replace(/\s+/g, ' ').slice(0, 100);
  return turnFailure('NOT_CONFIGURED', `${who} answered ${type} instead of a stream ("${began}"). Check modelBaseUrl.`);
}

/** Far above any real event; a larger one is a broken stream and would only take memory. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;
/** Ends of an event as the libraries see them. Anything else they keep buffering. */
const BLANK_LINES = ['\n\n', '\r\r', '\r\n\r\n'];
/** Characters of a blank line that may be in the chunk before. */
const SEAM = 3;

/** Checks the size of server-sent events in chunks that may be cut anywhere. Throws on an event that is too large. */
export class EventSizeGuard {
  #size = 0;
  #last = '';

  add(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const blank = Math.max(...BLANK_LINES.map((line) => bytes.lastIndexOf(line)));
    if (blank !== -1) this.#size = bytes.length - blank;
    else this.#size = bytes.length + (this.#isBlankBefore(bytes) ? 0 : this.#size);
    this.#last = (this.#last + bytes.toString('latin1', Math.max(0, bytes.length - SEAM))).slice(-SEAM);
    if (this.#size > MAX_EVENT_BYTES) throw new Error('it sent an event larger than 8 MB');
  }

  #isBlankBefore(bytes: Buffer): boolean {
    const seam = this.#last + bytes.toString('latin1', 0, SEAM);
    return BLANK_LINES.some((line) => seam.includes(line));
  }
}
