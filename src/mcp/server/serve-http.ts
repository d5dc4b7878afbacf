import { createHash, randomBytes } from 'node:crypto';
import {
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
import type { Door } from './door.ts';

export interface HttpOptions {
  readonly log: Logger;
  /** Who sends a request, or null for nobody we know. Left out: whoever mounts this has asked already. */
  authenticate?(request: Request): string | null;
  /** Beside the names of this machine. */
  readonly allowedHosts?: readonly string[];
}

/** MCP as something an HTTP server mounts at one path, for every method. */
export interface HttpDoor {
  handle(request: Request, principal?: string): Promise<Response>;
  close(): Promise<void>;
}

const MOST_SESSIONS = 2000;
const IDLE_MS = 60 * 60 * 1000;
const LONGEST_BODY = 16 * 1024 * 1024;

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly principal: string;
  usedAt: number;
}

/** Streamable HTTP: the 2026 revision request by request, the 2025 ones in sessions that belong to who opened them. */
export function serveHttp(door: Door, { log, authenticate, allowedHosts = [] }: HttpOptions): HttpDoor {
  const onerror = (error: Error) => log.warn({}, `MCP over HTTP: ${error.message}`);
  const sessions = new Map<string, Session>();
  const modern = createMcpHandler(
    ({ authInfo }) => connect(door, 'modern', sessionOf(authInfo?.clientId ?? '')).server,
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

  async function handle(request: Request, known?: string): Promise<Response> {
    const foreign =
      hostHeaderValidationResponse(request, [...localhostAllowedHostnames(), ...allowedHosts]) ??
      originValidationResponse(request, [...localhostAllowedOrigins(), ...allowedHosts]);
    if (foreign !== undefined) return foreign;
    const principal = known ?? (authenticate === undefined ? '' : authenticate(request));
    if (principal === null) return refused(401, 'A token is needed: send it as Authorization: Bearer …');
    const options = { authInfo: { token: '', clientId: principal, scopes: [] } };
    const legacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: LONGEST_BODY });
    if (!legacy) return modern.fetch(request, options);
    return inSession(request, principal, options);
  }

  async function inSession(
    request: Request,
    principal: string,
    options: { authInfo: { token: string; clientId: string; scopes: string[] } },
  ): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return opened(principal).then((transport) => transport.handleRequest(request, options));
    const session = sessions.get(id);
    // Somebody else's session is as unknown as one that never was.
    if (session === undefined || session.principal !== principal) return refused(404, 'There is no such session.');
    session.usedAt = performance.now();
    return session.transport.handleRequest(request, options);
  }

  /** It becomes a session only if the request is the handshake; any other is refused by the transport. */
  async function opened(principal: string): Promise<WebStandardStreamableHTTPServerTransport> {
    dropIdle();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomBytes(32).toString('base64url'),
      maxRequestBodySize: LONGEST_BODY,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, principal, usedAt: performance.now() });
        if (sessions.size > MOST_SESSIONS) dropOldest();
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
    const before = performance.now() - IDLE_MS;
    for (const [id, { usedAt }] of sessions) if (usedAt < before) drop(id);
  }

  function dropOldest(): void {
    const [oldest] = [...sessions].sort(([, a], [, b]) => a.usedAt - b.usedAt);
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

/** Requests of the 2026 revision stand alone: one record for each who sends them. */
function sessionOf(principal: string): string {
  return `mcp-${createHash('sha256').update(principal).digest('hex').slice(0, 24)}`;
}

function refused(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }, { status });
}
