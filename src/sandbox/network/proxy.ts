import { setMaxListeners } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { fail, type Result } from '../../kernel/result.ts';
import type { Connection, Dialer } from '../../kernel/world/dialer.ts';
import type { NetworkAccess, NetworkUse } from '../../kernel/world/sandbox.ts';

/** The only way from a run to the network: an HTTP proxy that dials allowed hosts and refuses all others. */
export interface Proxy {
  /** Serves a connection that came from inside. */
  accept(socket: Socket): void;
  uses(): readonly NetworkUse[];
  /** How many uses came after the list was full. */
  dropped(): number;
  close(): void;
}

export interface ProxyOptions {
  readonly dialer: Dialer;
  readonly access: NetworkAccess;
  readonly tag: string;
  onUse?: ((use: NetworkUse) => void) | undefined;
}

/** Headers about one connection, which are not passed on (RFC 9110, 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** At each side of the proxy. */
const MAX_CONNECTIONS = 256;
const IDLE_MS = 120_000;
const MAX_USES = 1_000;

export function createProxy(options: ProxyOptions): Proxy {
  const uses: NetworkUse[] = [];
  let dropped = 0;
  const open = new Set<{ destroy(): unknown }>();
  let dialled = 0;
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  // No data from either side may end this process: an exception breaks only its own connection.
  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy());
  });
  // Each request is dialled separately, so several in one connection would get around the limit.
  server.maxRequestsPerSocket = 1;
  server.on('connect', (request, socket, head) => {
    tunnel(request, socket as Socket, head).catch(() => socket.destroy());
  });
  server.on('clientError', (_error, socket) => socket.destroy());

  async function dial(host: string, port: number): Promise<Result<Connection>> {
    if (dialled >= MAX_CONNECTIONS) return fail('TOO_LARGE', 'Too many connections at once: close some first.');
    dialled++;
    const answered = await options.dialer.dial({ host, port }, options.access, closing.signal).catch((error) => {
      dialled--;
      throw error;
    });
    const allowed = answered.ok || answered.error.code === 'NETWORK_ERROR';
    const address = answered.ok ? answered.value.address : null;
    note({ tag: options.tag, host, port, allowed, address, reason: answered.ok ? 'listed' : answered.error.message });
    if (!answered.ok) {
      dialled--;
      return answered;
    }
    const { socket } = answered.value;
    keep(socket);
    socket.once('close', () => dialled--);
    socket.on('error', () => socket.destroy());
    return { ok: true, value: socket };
  }

  function note(use: NetworkUse): void {
    if (uses.length < MAX_USES) uses.push(use);
    else dropped++;
    options.onUse?.(use);
  }

  function keep(socket: { destroy(): unknown; once(event: 'close', listener: () => void): unknown }): void {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  }

  async function tunnel(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const target = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(request.url ?? '');
    if (target === null) return refuse(socket, 400, 'Give CONNECT a host and a port.');
    const remote = await dial(target[1] ?? '', Number(target[2]));
    if (!remote.ok) return refuse(socket, statusOf(remote), remote.error.message);
    if (socket.destroyed) return letGo(remote.value);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) remote.value.write(head);
    socket.pipe(remote.value as unknown as NodeJS.WritableStream);
    remote.value.pipe(socket);
    socket.once('close', () => remote.value.destroy());
    remote.value.once('close', () => socket.destroy());
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = plainUrl(request.url);
    if (url === null) return answer(response, 400, 'Give the proxy a whole http:// address; use CONNECT for https.');
    const remote = await dial(url.hostname, Number(url.port || 80));
    if (!remote.ok) return answer(response, statusOf(remote), remote.error.message);
    if (response.destroyed) return letGo(remote.value);
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !HOP_BY_HOP.has(name)));
    const outgoing = httpRequest({
      createConnection: () => remote.value as unknown as Socket,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      // The host that was judged, whatever the header said.
      headers: { ...headers, host: url.host, connection: 'close' },
    });
    outgoing.on('response', (incoming) => {
      incoming.on('error', () => response.destroy());
      if (!passHead(incoming, response)) {
        remote.value.destroy();
        return answer(response, 502, `${url.host} sent an answer that is not HTTP.`);
      }
      incoming.pipe(response);
    });
    // The new protocol could only be carried by CONNECT.
    outgoing.on('upgrade', (_incoming, socket) => {
      socket.destroy();
      answer(response, 502, `${url.host} changed the protocol: use CONNECT for that.`);
    });
    outgoing.on('error', () => answer(response, 502, `${url.host} broke the connection.`));
    response.once('close', () => remote.value.destroy());
    response.on('error', () => remote.value.destroy());
    request.on('error', () => remote.value.destroy());
    request.pipe(outgoing);
  }

  return {
    accept(socket) {
      if (open.size >= MAX_CONNECTIONS) {
        socket.destroy();
        return;
      }
      keep(socket);
      socket.on('error', () => socket.destroy());
      socket.setTimeout(IDLE_MS, () => socket.destroy());
      server.emit('connection', socket);
    },
    uses: () => uses,
    dropped: () => dropped,
    close() {
      closing.abort();
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

/** False for a head that Node reads but would not write, such as the status 099 or a control character. */
function passHead(incoming: IncomingMessage, response: ServerResponse): boolean {
  const status = incoming.statusCode ?? 0;
  if (status < 200 || status > 599) return false;
  const passed = Object.entries(incoming.headers).filter(([name]) => !HOP_BY_HOP.has(name));
  try {
    response.writeHead(status, Object.fromEntries(passed) as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

function plainUrl(text: string | undefined): URL | null {
  const url = URL.canParse(text ?? '') ? new URL(text ?? '') : null;
  return url?.protocol === 'http:' && url.username === '' && url.password === '' ? url : null;
}

/** Drops a connection whose client left while it was dialled; no event reports that again. */
function letGo(remote: Connection): void {
  remote.destroy();
}

function statusOf(failure: Result<never> | { ok: false; error: { code: string } }): number {
  if (failure.ok) return 403;
  return failure.error.code === 'NETWORK_ERROR' ? 502 : failure.error.code === 'TOO_LARGE' ? 503 : 403;
}

function answer(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${text}\n`);
}

function refuse(socket: Socket, status: number, text: string): void {
  const reason = STATUS_CODES[status] ?? '';
  const body = Buffer.from(`${text}\n`);
  const head = `HTTP/1.1 ${status} ${reason}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${body.length}\r\n`;
  socket.end(Buffer.concat([Buffer.from(`${head}connection: close\r\n\r\n`), body]));
}
