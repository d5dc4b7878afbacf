import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { messageOf } from '../kernel/error.ts';
import type { Route } from '../protocol/route.ts';
import { type Operation, ROUTES } from '../protocol/routes.ts';
import type { ApiParts } from './api-parts.ts';
import { type Credential, hashToken, mayDo } from './credentials.ts';
import { FailedTries } from './failed-tries.ts';
import { type Ask, type Env, type Handler, type Handlers, JsonAnswer } from './handler.ts';
import { registerPages } from './pages.ts';
import { problemResponse, refuse } from './problem.ts';
import { readBody } from './read-body.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { callRoutes } from './routes/calls.ts';
import { eventRoutes } from './routes/events.ts';
import { fileRoutes } from './routes/files.ts';
import { serverRoutes } from './routes/server.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { toolRoutes } from './routes/tools.ts';

/**
 * Every operation of the table, each behind the same steps:
 *   who is it → may they → do query and body fit → do it
 * A path that exists with another method says so; nothing changes on a GET.
 */
export function createApi(parts: ApiParts): Hono<Env> {
  const { backend } = parts;
  const api = new Hono<Env>();
  const handlers: Handlers = {
    ...serverRoutes(parts),
    ...callRoutes(backend),
    ...toolRoutes(backend),
    ...approvalRoutes(backend),
    ...sessionRoutes(backend),
    ...eventRoutes(parts),
    ...fileRoutes(backend),
  };
  const enter = doorkeeper(parts);
  api.use('*', async (c, next) => {
    if (c.req.header('upgrade') === undefined) return next();
    const who = enter(c);
    return who instanceof Response ? who : refuse('INVALID_INPUT', 'There are no sockets here: read GET /v1/events.');
  });
  for (const name of Object.keys(ROUTES) as Operation[]) {
    const route: Route = ROUTES[name];
    const handle = handlers[name] as unknown as Handler<Route>;
    api.on(route.method, route.path, (c) => serveOperation(c, { route, handle, enter }));
  }
  for (const path of new Set(Object.values(ROUTES).map((route: Route) => route.path))) {
    api.all(path, (c) => {
      const who = enter(c);
      return who instanceof Response ? who : otherMethod(path);
    });
  }
  api.all('/mcp/:workspace?', async (c) => {
    const who = enter(c);
    if (who instanceof Response) return who;
    const { role, sessions } = who.credential;
    // It makes sessions of its own, so a token for particular ones does not fit.
    if (!mayDo(role, 'agent') || sessions !== null) return refuse('FORBIDDEN', MCP_NEEDS);
    if (backend.mcp === undefined) return refuse('NOT_FOUND', 'MCP is not served here.');
    const principal = { id: who.tokenHash, mayApprove: mayDo(role, 'approver') };
    const answer = await backend.mcp.handle(c.req.raw, principal, c.req.param('workspace'));
    if (answer === undefined) return refuse('NOT_FOUND', NO_WORKSPACE);
    if (c.req.method !== 'GET' || !parts.open.wasCut(c.env.outgoing)) return answer;
    await answer.body?.cancel();
    return refuse('UNAUTHENTICATED', 'That token is no longer valid.');
  });
  registerPages(api, parts.pages);
  api.all('/v1/*', (c) => {
    const who = enter(c);
    return who instanceof Response ? who : refuse('NOT_FOUND', 'There is nothing here. /docs lists what there is.');
  });
  api.notFound(() => refuse('NOT_FOUND', 'There is nothing here. /docs lists what there is.'));
  api.onError((error) => {
    backend.log.error({}, `A request failed: ${messageOf(error)}`);
    return refuse('INTERNAL', 'Something of ours failed. The log of the server says what.');
  });
  return api;
}

const NO_WORKSPACE = 'There is no such workspace here. GET /v1/health lists them, and /mcp alone is the first.';
const MCP_NEEDS = 'MCP needs a token of the role agent or above that is not limited to sessions.';

interface Served {
  readonly route: Route;
  readonly handle: Handler<Route>;
  readonly enter: ReturnType<typeof doorkeeper>;
}

async function serveOperation(c: Context<Env>, { route, handle, enter }: Served): Promise<Response> {
  const who = enter(c);
  if (who instanceof Response) return who;
  const { credential, tokenHash } = who;
  if (!mayDo(credential.role, route.needs)) return forbidden(credential, route);
  // What an admin changes holds for every session.
  if (route.needs === 'admin' && credential.sessions !== null) return limited(credential.sessions);
  const query = queryOf(route.query ?? NO_QUERY, c);
  if ('response' in query) return query.response;
  const body = route.body === undefined ? { value: undefined } : await bodyOf(route.body, c.env.incoming);
  if ('response' in body) return body.response;
  const ask = { c, who: credential, tokenHash, params: c.req.param(), query: query.value, body: body.value };
  const answer = await handle(ask as unknown as Ask<Route>);
  return answer instanceof JsonAnswer ? answer.sendTo(c.env.outgoing) : answer;
}

function doorkeeper({ credentials, open }: ApiParts) {
  const failed = new FailedTries();
  return ({ req, env }: Context<Env>): { credential: Credential; tokenHash: string } | Response => {
    const token = /^Bearer ([\x21-\x7e]{1,500})$/i.exec(req.header('authorization') ?? '')?.[1];
    const tokenHash = token === undefined ? '' : hashToken(token);
    const credential = token === undefined ? undefined : credentials.find(tokenHash);
    if (credential === undefined) return token === undefined ? noToken() : wrongToken(failed, env);
    open.add(tokenHash, env.outgoing);
    return { credential, tokenHash };
  };
}

const ASKS_FOR_TOKEN = { 'WWW-Authenticate': 'Bearer' };

function noToken(): Response {
  const message = 'Send the token as Authorization: Bearer TOKEN.';
  return problemResponse({ code: 'UNAUTHENTICATED', message }, ASKS_FOR_TOKEN);
}

function wrongToken(failed: FailedTries, { incoming }: Env['Bindings']): Response {
  const wait = failed.add(incoming.socket.remoteAddress ?? '');
  const message = wait === 0 ? 'That token is not, or no longer, valid.' : `Too many wrong tokens: wait ${wait} s.`;
  if (wait === 0) return problemResponse({ code: 'UNAUTHENTICATED', message }, ASKS_FOR_TOKEN);
  return problemResponse({ code: 'TOO_MANY_REQUESTS', message }, { 'Retry-After': String(wait) });
}

type Checked = { value: unknown } | { response: Response };

const NO_QUERY = z.strictObject({});

/** What nobody would look at is refused: whoever sent it meant something by it. */
function queryOf(schema: NonNullable<Route['query']>, { req }: Context<Env>): Checked {
  const repeated = Object.entries(req.queries()).find(([, values]) => values.length > 1)?.[0];
  if (repeated === undefined) return checked(schema, req.query(), 'query');
  return { response: refuse('INVALID_INPUT', `The query has ${repeated} more than once: send it once.`) };
}

function checked(schema: NonNullable<Route['query']>, value: unknown, where: string): Checked {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data };
  const issues = parsed.error.issues.slice(0, 20).map(({ path, message }) => ({ path: path.join('.'), message }));
  const words = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  return { response: refuse('INVALID_INPUT', `The ${where} does not fit: ${words}`, { issues }) };
}

async function bodyOf(schema: NonNullable<Route['body']>, incoming: Env['Bindings']['incoming']): Promise<Checked> {
  const read = await readBody(incoming);
  if ('trouble' in read) return { response: problemResponse(read.trouble) };
  return checked(schema, read.value ?? {}, 'body');
}

function forbidden({ role }: Credential, { needs }: Route): Response {
  return refuse('FORBIDDEN', `Your role is ${role}; this needs ${needs}. Ask an administrator for another token.`);
}

function limited(sessions: readonly string[]): Response {
  const next = 'This changes things for all sessions: use a token without that limit.';
  return refuse('FORBIDDEN', `Your token is for ${sessions.join(', ')}. ${next}`);
}

function otherMethod(path: string): Response {
  const methods = Object.values(ROUTES)
    .filter((route: Route) => route.path === path)
    .map(({ method }) => method);
  const allow = [...new Set(methods)].join(', ');
  return problemResponse({ code: 'METHOD_NOT_ALLOWED', message: `Use ${allow} here.` }, { Allow: allow });
}
