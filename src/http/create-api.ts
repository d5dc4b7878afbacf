import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { messageOf } from '../kernel/error.ts';
import type { Route } from '../protocol/route.ts';
import { type Operation, ROUTES } from '../protocol/routes.ts';
import { type Credential, mayDo } from './credentials.ts';
import { createAuthenticator } from './guard.ts';
import type { ApiContext } from './handler.ts';
import { type CheckedRequest, type Handler, type Handlers, type HonoEnv, JsonResponse } from './handler.ts';
import { registerPages } from './pages.ts';
import { problemResponse, refuse } from './problem.ts';
import { readBody } from './read-body.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { callRoutes } from './routes/calls.ts';
import { changesRoutes } from './routes/changes.ts';
import { eventRoutes } from './routes/events.ts';
import { fileRoutes } from './routes/files.ts';
import { pathRoutes } from './routes/paths.ts';
import { serverRoutes } from './routes/server.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { toolRoutes } from './routes/tools.ts';

/**
 * Registers every operation of the route table, each behind the same steps:
 * authenticate → check the role → check query and body → handle
 * A known path with another method gets 405. A GET changes nothing.
 */
export function createApi(parts: ApiContext): Hono<HonoEnv> {
  const { backend } = parts;
  const api = new Hono<HonoEnv>();
  const handlers: Handlers = {
    ...serverRoutes(parts),
    ...callRoutes(backend),
    ...toolRoutes(backend),
    ...pathRoutes(backend),
    ...approvalRoutes(backend),
    ...changesRoutes(backend),
    ...sessionRoutes(backend),
    ...eventRoutes(parts),
    ...fileRoutes(backend),
  };
  const enter = createAuthenticator(parts);
  api.use('*', async (c, next) => {
    if (c.req.header('upgrade') === undefined) return next();
    const who = enter(c);
    return who instanceof Response ? who : refuse('INVALID_INPUT', 'WebSockets are not supported: use GET /v1/events.');
  });
  for (const name of Object.keys(ROUTES) as Operation[]) {
    const route: Route = ROUTES[name];
    const handle = handlers[name] as unknown as Handler<Route>;
    api.on(route.method, route.path, (c) => serveOperation(c, { route, handle, enter }));
  }
  for (const path of new Set(Object.values(ROUTES).map((route: Route) => route.path))) {
    api.all(path, (c) => {
      const who = enter(c);
      return who instanceof Response ? who : methodNotAllowed(path);
    });
  }
  api.all('/mcp/:workspace?', async (c) => {
    const who = enter(c);
    if (who instanceof Response) return who;
    const { role, sessions } = who.credential;
    // MCP creates sessions of its own, so a token limited to sessions cannot use it.
    if (!mayDo(role, 'agent') || sessions !== null) return refuse('FORBIDDEN', MCP_NEEDS);
    if (backend.mcp === undefined) return refuse('NOT_FOUND', 'MCP is not served here.');
    const principal = { id: who.tokenHash, mayApprove: mayDo(role, 'approver') };
    const answer = await backend.mcp.handle(c.req.raw, principal, c.req.param('workspace'));
    if (answer === undefined) return refuse('NOT_FOUND', NO_WORKSPACE);
    if (c.req.method !== 'GET' || !parts.open.wasCut(c.env.outgoing)) return answer;
    await answer.body?.cancel();
    return refuse('UNAUTHENTICATED', 'The token was revoked.');
  });
  registerPages(api, parts.pages);
  api.all('/v1/*', (c) => {
    const who = enter(c);
    return who instanceof Response ? who : refuse('NOT_FOUND', 'Nothing here. See /docs for the API.');
  });
  api.notFound(() => refuse('NOT_FOUND', 'Nothing here. See /docs for the API.'));
  api.onError((error) => {
    backend.log.error({}, `A request failed: ${messageOf(error)}`);
    return refuse('INTERNAL', 'Internal error. See the server log.');
  });
  return api;
}

const NO_WORKSPACE = 'Unknown workspace. GET /v1/health lists them; /mcp alone uses the first.';
const MCP_NEEDS = 'MCP needs a token with the role agent or above that is not limited to sessions.';

interface ServedOperation {
  readonly route: Route;
  readonly handle: Handler<Route>;
  readonly enter: ReturnType<typeof createAuthenticator>;
}

async function serveOperation(c: Context<HonoEnv>, { route, handle, enter }: ServedOperation): Promise<Response> {
  const who = enter(c);
  if (who instanceof Response) return who;
  const { credential, tokenHash } = who;
  if (!mayDo(credential.role, route.needs)) return forbidden(credential, route);
  // An administrator's change affects every session.
  if (route.needs === 'admin' && credential.sessions !== null) return limitedToSessions(credential.sessions);
  const query = checkQuery(route.query ?? NO_QUERY, c);
  if ('response' in query) return query.response;
  const body = route.body === undefined ? { value: undefined } : await checkBody(route.body, c.env.incoming);
  if ('response' in body) return body.response;
  const ask = { c, who: credential, tokenHash, params: c.req.param(), query: query.value, body: body.value };
  const answer = await handle(ask as unknown as CheckedRequest<Route>);
  return answer instanceof JsonResponse ? answer.sendTo(c.env.outgoing) : answer;
}

type CheckedInput = { value: unknown } | { response: Response };

const NO_QUERY = z.strictObject({});

/** Refuses unknown and repeated query parameters: a client that sends one expects it to have an effect. */
function checkQuery(schema: NonNullable<Route['query']>, { req }: Context<HonoEnv>): CheckedInput {
  const repeated = Object.entries(req.queries()).find(([, values]) => values.length > 1)?.[0];
  if (repeated === undefined) return checkInput(schema, req.query(), 'query');
  return { response: refuse('INVALID_INPUT', `The query parameter ${repeated} is repeated: send it once.`) };
}

function checkInput(schema: NonNullable<Route['query']>, value: unknown, where: string): CheckedInput {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data };
  const issues = parsed.error.issues.slice(0, 20).map(({ path, message }) => ({ path: path.join('.'), message }));
  const words = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  return { response: refuse('INVALID_INPUT', `Invalid ${where}: ${words}`, { issues }) };
}

async function checkBody(
  schema: NonNullable<Route['body']>,
  incoming: HonoEnv['Bindings']['incoming'],
): Promise<CheckedInput> {
  const read = await readBody(incoming);
  if ('trouble' in read) return { response: problemResponse(read.trouble) };
  return checkInput(schema, read.value ?? {}, 'body');
}

function forbidden({ role }: Credential, { needs }: Route): Response {
  return refuse('FORBIDDEN', `Your role is ${role}; this needs ${needs}. Ask an administrator for another token.`);
}

function limitedToSessions(sessions: readonly string[]): Response {
  const next = 'This affects all sessions: use a token without that limit.';
  return refuse('FORBIDDEN', `Your token is limited to ${sessions.join(', ')}. ${next}`);
}

function methodNotAllowed(path: string): Response {
  const methods = Object.values(ROUTES)
    .filter((route: Route) => route.path === path)
    .map(({ method }) => method);
  const allow = [...new Set(methods)].join(', ');
  return problemResponse({ code: 'METHOD_NOT_ALLOWED', message: `Use ${allow} here.` }, { Allow: allow });
}
