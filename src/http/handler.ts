import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import type { z } from 'zod';
import type { Route } from '../protocol/route.ts';
import type { Operation, Routes } from '../protocol/routes.ts';
import type { Credential } from './credentials.ts';

export type Env = { Bindings: HttpBindings };

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

/** A request that was let in, whose role suffices and whose parts fit their schemas. */
export interface Ask<R extends Route> {
  readonly c: Context<Env>;
  readonly who: Credential;
  /** Of the token it came with, for those who must end with it. */
  readonly tokenHash: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: R extends { query: infer Q } ? Parsed<Q> : undefined;
  readonly body: R extends { body: infer B } ? Parsed<B> : undefined;
}

export type Handler<R extends Route> = (ask: Ask<R>) => Answer | Promise<Answer>;
export type Answer = Response | JsonAnswer;
export type Handlers = { readonly [K in Operation]: Handler<Routes[K]> };

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): JsonAnswer {
  return new JsonAnswer(JSON.stringify(value), status, headers);
}

/** Goes to the socket as it is. A Response would make a stream of it, and read that again. */
export class JsonAnswer {
  readonly #text: string;
  readonly #status: number;
  readonly #headers: Record<string, string>;

  constructor(text: string, status: number, headers: Record<string, string>) {
    this.#text = text;
    this.#status = status;
    this.#headers = headers;
  }

  sendTo(outgoing: HttpBindings['outgoing']): Response {
    const length = Buffer.byteLength(this.#text);
    outgoing.writeHead(this.#status, {
      'Content-Type': 'application/json',
      'Content-Length': length,
      ...this.#headers,
    });
    outgoing.end(this.#text);
    return RESPONSE_ALREADY_SENT;
  }
}
