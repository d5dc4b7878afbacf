import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Patience {
  /** For the head of a request, from the first moment of its connection. */
  readonly headMs: number;
  /** For the rest of it. */
  readonly requestMs: number;
  /** Between two requests. */
  readonly idleMs: number;
}

interface Waited {
  timer: NodeJS.Timeout | undefined;
  /** Requests that are being answered: as long as there are any, nobody is waited for. */
  answering: number;
}

/**
 * Ends connections that bring their requests byte by byte. Node has limits for that, too, but it keeps connections in a
 * set by the time they began: of those that began at the same tick of a coarse clock it forgets all but one.
 */
export function endSlowRequests(server: Server, connected: 'connection' | 'secureConnection', given: Patience): void {
  const { headMs, requestMs, idleMs } = given;
  const waited = new WeakMap<Socket, Waited>();

  server.on(connected, (socket: Socket) => {
    const state: Waited = { timer: undefined, answering: 0 };
    waited.set(socket, state);
    socket.once('close', () => clearTimeout(state.timer));
    wait(socket, state, headMs);
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const state = waited.get(socket);
    if (state === undefined) return;
    state.answering++;
    wait(socket, state, requestMs, () => !request.complete);
    response.once('close', () => {
      state.answering--;
      if (state.answering === 0) wait(socket, state, idleMs + headMs);
    });
  });
}

function wait(socket: Socket, state: Waited, ms: number, isLate = () => true): void {
  clearTimeout(state.timer);
  if (socket.destroyed) return;
  state.timer = setTimeout(() => isLate() && socket.destroy(), ms).unref();
}
