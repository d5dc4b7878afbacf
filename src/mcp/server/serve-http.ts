import { createHash, randomBytes } from 'node:crypto';
import {
  type AuthInfo,
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Logger } from '../../kernel/ports.ts';
import { connect, follow, soon } from './connect.ts';
import type { Connection } from './connection.ts';
import { type Door, MAY_APPROVE } from './door.ts';

export interface HttpOptions {
  readonly log: Logger;
  /** Whoever mounts this looks at Host and Origin itself. Left out: only the names of this machine are answered to. */
  readonly guarded?: boolean;
  /** After so long without a request, a session in which nothing runs or waits is over. */
  readonly idleMs?: number;
}

/** Who sends a request, as whoever mounts this found out. */
export interface Principal {
  readonly id: string;
  /** Whether a yes in this client's form is a yes: who may only run tools cannot approve their own calls. */
  readonly mayApprove: boolean;
}

/** MCP as something an HTTP server mounts at one path, for every method. */
export interface HttpDoor {
  handle(request: Request, principal: Principal): Promise<Response>;
  close(): Promise<void>;
}

const MOST_SESSIONS = 2000;
/** Of these, so many may be of one owner, unless more have a call under way. */
const MOST_OF_ONE = 200;
const IDLE_MS = 60 * 60 * 1000;
const LONGEST_BODY = 16 * 1024 * 1024;

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly owner: string;
  readonly connection: Connection;
  usedAt: number;
}

/** Streamable HTTP: the 2026 revision request by request, the 2025 ones in sessions that belong to who opened them. */
export function serveHttp(door: Door, { log, guarded = false, idleMs = IDLE_MS }: HttpOptions): HttpDoor {
  const salt = randomBytes(16).toString('hex');
  const onerror = (error: Error) => log.warn({}, `MCP over HTTP: ${error.message}`);
  const sessions = new Map<string, Session>();
  const modern = createMcpHandler(
    ({ authInfo }) => connect(door, 'modern', sessionOf(`${salt}${authInfo?.clientId}`)).server,
    {
      legacy: 'reject',
      maxRequestBodySize: LONGEST_BODY,
      onerror,
    },
  );
  const stop = [
    door.options.executor.registry.onChange(soon(() => modern.notify.toolsChanged())),
    door.options.resources?.watch?.((uri) => modern.notify.resourceUpdated(uri)),
  ];
  return { handle, close };

  async function handle(request: Request, { id, mayApprove }: Principal): Promise<Response> {
    const foreign = guarded ? undefined : turnAway(request);
    if (foreign !== undefined) return foreign;
    const authInfo = { token: '', clientId: id, scopes: mayApprove ? [MAY_APPROVE] : [] };
    const legacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: LONGEST_BODY });
    if (request.headers.get('mcp-method') === 'subscriptions/listen') door.options.resources?.observe?.();
    return legacy ? inSession(request, authInfo) : modern.fetch(request, { authInfo });
  }

  async function inSession(request: Request, authInfo: AuthInfo): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return begin(request, authInfo);
    const session = sessions.get(id);
    // Somebody else's session is as unknown as one that never was.
    if (session === undefined || session.owner !== authInfo.clientId) return refused(404, 'There is no such session.');
    session.usedAt = performance.now();
    return session.transport.handleRequest(request, { authInfo });
  }

  async function begin(request: Request, authInfo: AuthInfo): Promise<Response> {
    const transport = await opened(authInfo.clientId);
    const response = await transport.handleRequest(request, { authInfo });
    // Without the handshake it is no session, and nobody could come back to it.
    if (!sessions.has(transport.sessionId ?? '')) await transport.close();
    return response;
  }

  /** It becomes a session only if the request is the handshake; any other is refused by the transport. */
  async function opened(owner: string): Promise<WebStandardStreamableHTTPServerTransport> {
    dropIdle();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomBytes(32).toString('base64url'),
      maxRequestBodySize: LONGEST_BODY,
      onsessioninitialized: (id) => {
        makeRoom(owner);
        sessions.set(id, { transport, owner, connection, usedAt: performance.now() });
      },
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const connection = connect(door, 'legacy', `mcp-${randomBytes(12).toString('hex')}`);
    follow(door, connection);
    const { server } = connection;
    server.onerror = onerror;
    await server.connect(transport);
    return transport;
  }

  function dropIdle(): void {
    const before = performance.now() - idleMs;
    for (const [id, session] of sessions) {
      // A call may wait for a person longer than that.
      if (session.usedAt < before && !isBusy(session)) drop(id);
    }
  }

  /** Who has its share or more makes room with its own, so that nobody is pushed out by another who never ends any. */
  function makeRoom(owner: string): void {
    const all = [...sessions];
    const own = all.filter(([, session]) => session.owner === owner);
    const hasShare = own.length >= MOST_OF_ONE;
    if (hasShare) dropOldest(own.filter(([, session]) => !isBusy(session)));
    if (sessions.size >= MOST_SESSIONS) dropOldest(hasShare ? own : all);
  }

  function dropOldest(among: readonly [string, Session][]): void {
    const [oldest] = among.toSorted(([, a], [, b]) => Number(isBusy(a)) - Number(isBusy(b)) || a.usedAt - b.usedAt);
    if (oldest !== undefined) drop(oldest[0]);
  }

  function drop(id: string): void {
    const session = sessions.get(id);
    sessions.delete(id);
    session?.transport.close().catch(onerror);
  }

  async function close(): Promise<void> {
    for (const each of stop) each?.();
    for (const id of [...sessions.keys()]) drop(id);
    await modern.close();
  }
}

function isBusy({ connection }: Session): boolean {
  return connection.calls.size > 0;
}

function turnAway(request: Request): Response | undefined {
  return (
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins())
  );
}

/** Requests of the 2026 revision stand alone: one record for each who sends them. */
function sessionOf(who: string): string {
  return `mcp-${createHash('sha256').update(who).digest('hex').slice(0, 24)}`;
}

function refused(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }, { status });
}
