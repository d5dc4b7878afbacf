import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Patience {
  /** For the head of a request, from the first moment of its connection. */
  readonly headMs: number;
  /** For the rest of it. */
  readonly requestMs: number;
  /** Between two requests. */
  readonly idleMs: number;
  /** For a whole answer of which nothing more is read; it ends after that and before twice that. */
  readonly unreadMs: number;
}

interface Waited {
  timer: NodeJS.Timeout | undefined;
  /** Answers that are not sent yet, the one that goes out first: as long as there are any, no request is waited for. */
  readonly answers: Set<ServerResponse>;
  /** What was still to be sent of an answer when it was last looked at. */
  unread: { readonly answer: ServerResponse; readonly bytes: number } | undefined;
}

/**
 * Ends connections that bring their requests byte by byte, or do not take their answers. Node has limits for the first,
 * too, but it keeps connections in a set by the time they began: of those that began at the same tick of a coarse clock it
 * forgets all but one.
 */
export function endSlowRequests(server: Server, connected: 'connection' | 'secureConnection', given: Patience): void {
  const { headMs, requestMs, idleMs, unreadMs } = given;
  const waited = new WeakMap<Socket, Waited>();

  server.on(connected, (socket: Socket) => {
    const state: Waited = { timer: undefined, answers: new Set(), unread: undefined };
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

function wait(socket: Socket, state: Waited, ms: number, isLate = () => true): void {
  clearTimeout(state.timer);
  if (socket.destroyed) return;
  state.timer = setTimeout(() => isLate() && socket.destroy(), ms).unref();
}

/** An answer that is still being made is not looked at: a call may take its time, and a stream looks after itself. */
function endUnread(socket: Socket, state: Waited): void {
  const [answer] = state.answers;
  const before = state.unread;
  const bytes = answer?.writableEnded ? unsentBytes(socket) : 0;
  state.unread = answer === undefined || bytes === 0 ? undefined : { answer, bytes };
  if (before !== undefined && before.answer === answer && before.bytes === bytes) socket.destroy();
}

/**
 * Node counts a chunk as unsent until all of it is sent, and an answer may be one chunk. The handle below knows better, with
 * TLS the one below that; a timeout of the socket would ask it, too, but starts anew with every byte that comes in.
 */
function unsentBytes(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: (Handle & { _parent?: Handle }) | null };
  return socket.writableLength + ((handle?._parent ?? handle)?.writeQueueSize ?? 0);
}

interface Handle {
  readonly writeQueueSize?: number;
}
