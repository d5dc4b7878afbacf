import type { ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import type { z } from 'zod';
import type { Route } from '../protocol/route.ts';
import type { Operation, Routes } from '../protocol/routes.ts';
import type { Backend } from './backend.ts';
import type { Credential, Credentials } from './credentials.ts';
import type { EventStreams } from './event-streams.ts';

export type HonoEnv = { Bindings: HttpBindings };

type SchemaOutput<S> = S extends z.ZodType ? z.output<S> : undefined;

/** A request that is authenticated, has a sufficient role, and fits the schemas of its route. */
export interface CheckedRequest<R extends Route> {
  readonly c: Context<HonoEnv>;
  readonly who: Credential;
  /** Hash of its token, for streams that must end when the token is revoked. */
  readonly tokenHash: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: R extends { query: infer Q } ? SchemaOutput<Q> : undefined;
  readonly body: R extends { body: infer B } ? SchemaOutput<B> : undefined;
}

export type Handler<R extends Route> = (ask: CheckedRequest<R>) => HandlerResponse | Promise<HandlerResponse>;
export type HandlerResponse = Response | JsonResponse;
export type Handlers = { readonly [K in Operation]: Handler<Routes[K]> };

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): JsonResponse {
  return new JsonResponse(JSON.stringify(value), status, headers);
}

/** Writes JSON to the socket directly. A Response would wrap it in a stream and read that again. */
export class JsonResponse {
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

export interface ApiContext {
  readonly backend: Backend;
  readonly credentials: Credentials;
  readonly streams: EventStreams;
  readonly open: OpenResponses;
  readonly isStopping: () => boolean;
  /** Folder of the web app, where it was built. */
  readonly pages?: string | undefined;
}

/** The open responses of each token, so that revoking a token ends its streams. */
export class OpenResponses {
  readonly #byToken = new Map<string, Set<ServerResponse>>();
  readonly #cut = new WeakSet<ServerResponse>();

  add(tokenHash: string, answer: ServerResponse): void {
    const open = this.#byToken.get(tokenHash) ?? new Set();
    this.#byToken.set(tokenHash, open.add(answer));
    answer.once('close', () => {
      open.delete(answer);
      if (open.size === 0 && this.#byToken.get(tokenHash) === open) this.#byToken.delete(tokenHash);
    });
  }

  /** Ends the streams of a token. A request that waits for its response still gets it, unless that is a stream. */
  cut(tokenHash: string): void {
    for (const answer of this.#byToken.get(tokenHash) ?? []) {
      this.#cut.add(answer);
      if (answer.headersSent) answer.destroy();
    }
  }

  /** Whether the token was revoked after the request was let in: then no stream may begin. */
  wasCut(answer: ServerResponse): boolean {
    return this.#cut.has(answer);
  }
}
