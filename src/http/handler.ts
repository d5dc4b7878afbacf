import type { HttpBindings } from '@hono/node-server';
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

export type Handler<R extends Route> = (ask: Ask<R>) => Response | Promise<Response>;
export type Handlers = { readonly [K in Operation]: Handler<Routes[K]> };

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), { status, headers: { 'Content-Type': 'application/json', ...headers } });
}
