import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface SlowRequestLimits {
  /** For the head of a request, counted from the connection. */
  readonly headMs: number;
  /** For the body. */
  readonly requestMs: number;
  /** Between two requests. */
  readonly idleMs: number;
  /**
   * For a finished response of which nothing more is read; the connection ends after this time and before twice of it.
   */
  readonly unreadMs: number;
}

interface ConnectionState {
  timer: NodeJS.Timeout | undefined;
  /** Responses that are not sent yet, in order. While there are any, no request is waited for. */
  readonly answers: Set<ServerResponse>;
  /** Unsent bytes of a response when it was last checked. */
  unread: { readonly answer: ServerResponse; readonly bytes: number } | undefined;
}

/**
 * Ends connections that send their requests byte by byte, or do not read their responses. Node has limits for the first
 * as well, but keeps connections in a set by start time: of those that began in the same tick of a coarse clock it
 * forgets all but one.
 */
export function endSlowRequests(
  server: Server,
  connected: 'connection' | 'secureConnection',
  given: SlowRequestLimits,
): void {
  const { headMs, requestMs, idleMs, unreadMs } = given;
  const waited = new WeakMap<Socket, ConnectionState>();

  server.on(connected, (socket: Socket) => {
    const state: ConnectionState = { timer: undefined, answers: new Set(), unread: undefined };
    waited.set(socket, state);
    const looking = setInterval(() => endUnread(socket, state), unreadMs).unref();
    socket.once('close', () => {
      clearTimeout(state.timer);
      clearInterval(looking);
    });
    wait(socket, state, headMs);
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const state = waited.get(socket);
    if (state === undefined) return;
    state.answers.add(response);
    wait(socket, state, requestMs, () => !request.complete);
    response.once('close', () => {
      state.answers.delete(response);
      if (state.answers.size === 0) wait(socket, state, idleMs + headMs);
    });
  });
}

function wait(socket: Socket, state: ConnectionState, ms: number, isLate = () => true): void {
  clearTimeout(state.timer);
  if (socket.destroyed) return;
  state.timer = setTimeout(() => isLate() && socket.destroy(), ms).unref();
}

/**
 * Ends a connection that stopped reading. A response still in progress is exempt: a call may take time, and a stream
 * has its own check.
 */
function endUnread(socket: Socket, state: ConnectionState): void {
  const [answer] = state.answers;
  const before = state.unread;
  const bytes = answer?.writableEnded ? unsentBytes(socket) : 0;
  state.unread = answer === undefined || bytes === 0 ? undefined : { answer, bytes };
  if (before !== undefined && before.answer === answer && before.bytes === bytes) socket.destroy();
}

/**
 * Counts unsent bytes by the socket handle, with TLS by the handle below it: Node counts a chunk as unsent until all of
 * it is sent, and a response may be one chunk. A socket timeout would restart with every incoming byte.
 */
function unsentBytes(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: (SocketHandle & { _parent?: SocketHandle }) | null };
  return socket.writableLength + ((handle?._parent ?? handle)?.writeQueueSize ?? 0);
}

interface SocketHandle {
  readonly writeQueueSize?: number;
}
