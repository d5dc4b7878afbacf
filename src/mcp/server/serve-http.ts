import { hash, randomBytes } from 'node:crypto';
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

export interface ServeHttpOptions {
  readonly log: Logger;
  /** The HTTP server around this checks Host and Origin. Default: only names of this machine are accepted. */
  readonly guarded?: boolean;
  /** After this time without a request, an idle session ends. */
  readonly idleMs?: number;
}

/** The sender of a request, as the HTTP server authenticated it. */
export interface Principal {
  readonly id: string;
  /** Whether this client's form may approve: a client that may only run tools cannot approve its own calls. */
  readonly mayApprove: boolean;
}

/** MCP as a handler that an HTTP server mounts at one path, for every method. */
export interface HttpDoor {
  handle(request: Request, principal: Principal): Promise<Response>;
  close(): Promise<void>;
}

const MAX_SESSIONS = 2000;
/** Sessions of one owner, unless more have a running call. */
const MAX_SESSIONS_OF_ONE = 200;
const IDLE_MS = 60 * 60 * 1000;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly owner: string;
  readonly connection: Connection;
  usedAt: number;
}

/** Streamable HTTP: the 2026 revision request by request, the 2025 revisions in sessions that belong to their owner. */
export function serveHttp(door: Door, { log, guarded = false, idleMs = IDLE_MS }: ServeHttpOptions): HttpDoor {
  const salt = randomBytes(16).toString('hex');
  const onerror = (error: Error) => log.warn({}, `MCP over HTTP: ${error.message}`);
  const sessions = new Map<string, HttpSession>();
  const modern = createMcpHandler(
    ({ authInfo }) => connect(door, 'modern', sessionOf(`${salt}${authInfo?.clientId}`)).server,
    {
      legacy: 'reject',
      maxRequestBodySize: MAX_BODY_BYTES,
      onerror,
    },
  );
  const stop = [
    door.options.executor.registry.onChange(soon(() => modern.notify.toolsChanged())),
    door.options.resources?.watch?.((uri) => modern.notify.resourceUpdated(uri)),
  ];
  return { handle, close };

  async function handle(request: Request, { id, mayApprove }: Principal): Promise<Response> {
    const foreign = guarded ? undefined : tooManySessions(request);
    if (foreign !== undefined) return foreign;
    const authInfo = { token: '', clientId: id, scopes: mayApprove ? [MAY_APPROVE] : [] };
    const legacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: MAX_BODY_BYTES });
    if (request.headers.get('mcp-method') === 'subscriptions/listen') door.options.resources?.observe?.();
    return legacy ? inSession(request, authInfo) : modern.fetch(request, { authInfo });
  }

  async function inSession(request: Request, authInfo: AuthInfo): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return begin(request, authInfo);
    const session = sessions.get(id);
    // A session of another owner is reported as unknown.
    if (session === undefined || session.owner !== authInfo.clientId) return refused(404, 'Unknown session.');
    session.usedAt = performance.now();
    return session.transport.handleRequest(request, { authInfo });
  }

  async function begin(request: Request, authInfo: AuthInfo): Promise<Response> {
    const transport = await opened(authInfo.clientId);
    const response = await transport.handleRequest(request, { authInfo });
    // Without the handshake no session exists, and the client could not come back to it.
    if (!sessions.has(transport.sessionId ?? '')) await transport.close();
    return response;
  }

  /** Opens a transport. It becomes a session only if the request is the handshake; the transport refuses any other. */
  async function opened(owner: string): Promise<WebStandardStreamableHTTPServerTransport> {
    dropIdle();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomBytes(32).toString('base64url'),
      maxRequestBodySize: MAX_BODY_BYTES,
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

  /**
   * Makes room for a session. An owner with a full share loses sessions of its own, so that it cannot push out another
   * owner.
   */
  function makeRoom(owner: string): void {
    const all = [...sessions];
    const own = all.filter(([, session]) => session.owner === owner);
    const hasShare = own.length >= MAX_SESSIONS_OF_ONE;
    if (hasShare) dropOldest(own.filter(([, session]) => !isBusy(session)));
    if (sessions.size >= MAX_SESSIONS) dropOldest(hasShare ? own : all);
  }

  function dropOldest(among: readonly [string, HttpSession][]): void {
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

function isBusy({ connection }: HttpSession): boolean {
  return connection.calls.size > 0;
}

function tooManySessions(request: Request): Response | undefined {
  return (
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins())
  );
}

/** Session for requests of the 2026 revision, which stand alone: one for each sender. */
function sessionOf(who: string): string {
  return `mcp-${hash('sha256', who, 'hex').slice(0, 24)}`;
}

function refused(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }, { status });
}
