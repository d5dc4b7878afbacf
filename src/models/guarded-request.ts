import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { messageOf } from '../kernel/error.ts';
import { EventBound } from './event-bound.ts';
import { type Trouble, trouble, troubleOfStatus } from './trouble.ts';

export interface LineOptions {
  /** As a sentence begins: «The Messages endpoint api.anthropic.com». */
  readonly who: string;
  /** All that is sent, whatever else a provider's library found in its environment. */
  readonly headers: Readonly<Record<string, string>>;
  /** Silence after which a stream counts as dead. Default 120 s. */
  readonly stallMs?: number;
}

const MOST_ERROR_BYTES = 16 * 1024;

/**
 * The way of one request. A provider's library posts on it; `trouble` is what went wrong on the way, in our words. Node's
 * own client: a redirect is an answer like any other, so the key goes nowhere it was not sent.
 */
export class GuardedLine {
  readonly #options: LineOptions;
  #timer: NodeJS.Timeout | undefined;
  #call: (ClientRequest & { res?: IncomingMessage }) | undefined;
  #ended: string | undefined;
  trouble: Trouble | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  /** Rejects unless a stream of events comes back. */
  async post(url: string, body: string): Promise<Response> {
    const { who, stallMs = 120_000 } = this.#options;
    this.#timer = setTimeout(() => this.stop(`nothing came for ${stallMs / 1000} s`), stallMs);
    const answer = await this.#send(url, body).catch((error) => this.#broken(error));
    const status = answer.statusCode ?? 0;
    const type = answer.headers['content-type'] ?? 'nothing';
    if (status < 200 || status > 299)
      throw this.#refused(troubleOfStatus(who, { status, headers: answer.headers }, await this.#beginning(answer)));
    if (!type.includes('event-stream')) throw this.#refused(noStream(who, type, await this.#beginning(answer)));
    // What the libraries use of one. A real one would put a web stream between, which costs more than all the rest.
    return { ok: true, status, headers: new Headers(), body: this.#bytes(answer) } as unknown as Response;
  }

  stop(why: string): void {
    this.#ended ??= why;
    this.#call?.destroy(new Error(why));
  }

  /** After a whole answer the connection is kept for the next turn; whatever else is left of it is nobody's any more. */
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
    const bound = new EventBound();
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
      if (size > MOST_ERROR_BYTES) break;
    }
    return Buffer.concat(chunks).subarray(0, MOST_ERROR_BYTES).toString('utf8');
  }

  #broken(error: unknown): never {
    const why = this.#ended ?? messageOf(error);
    const message = `${this.#options.who} cannot be reached or broke off: ${why}`;
    throw this.#refused(trouble('NETWORK_ERROR', message, { retry: true }));
  }

  /** The first is the reason; what follows from it is not. */
  #refused(found: Trouble): Error {
    this.trouble ??= found;
    return new Error(found.failure.message);
  }
}

function noStream(who: string, type: string, said: string): Trouble {
  const began = said.replace(/\s+/g, ' ').slice(0, 100);
  return trouble('NOT_CONFIGURED', `${who} answered ${type} instead of a stream («${began}»). Check modelBaseUrl.`);
}
