import type { ChildProcess } from 'node:child_process';
import type { Server } from 'node:net';
import type { Dialer } from '../../kernel/world/dialer.ts';
import type { NetworkUse, RunRequest } from '../../kernel/world/sandbox.ts';
import { receiveListener } from './proxy-listener.ts';

/**
 * A run has an empty network namespace. Where hosts are allowed, a small program runs inside before the command: it opens a
 * listening socket there and sends it to this process over Node's channel for children. So the proxy runs here, listens
 * inside, and is the only way out.
 */
export interface SandboxNetwork {
  uses(): readonly NetworkUse[];
  dropped(): number;
  /** Whether the run sent something other than its listening socket. `end` is called when it does. */
  isBroken(): boolean;
  onBroken(end: () => void): void;
  close(): void;
}

const PROXY_PORT = 3128;
export const PROXY_ENVIRONMENT = proxyEnvironment(PROXY_PORT);

export function proxyEnvironment(port: number): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${port}`;
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: '',
    no_proxy: '',
    NODE_USE_ENV_PROXY: '1',
  };
}

/** Runs inside with an empty environment. Exits once the socket has arrived at the other end. */
export const LISTENER_PROGRAM = `
const server = require('node:net').createServer();
server.listen(${PROXY_PORT}, '127.0.0.1', () => process.send('door', server, () => process.exit(0)));
`;

/** Loads the proxy on demand: most runs have no network, and need no HTTP. */
export async function openNetwork(child: ChildProcess, request: RunRequest, dialer: Dialer): Promise<SandboxNetwork> {
  const { createProxy } = await import('./proxy.ts');
  const proxy = createProxy({
    dialer,
    access: request.network ?? { hosts: [] },
    tag: request.tag,
    onUse: request.onNetwork?.bind(request),
  });
  let door: Server | null = null;
  let [broken, end] = [false, (): void => {}];
  receiveListener(child, {
    onDoor(opened) {
      door = opened;
      opened.on('connection', (socket) => proxy.accept(socket));
    },
    onBroken() {
      broken = true;
      door?.close();
      end();
    },
  });
  return {
    uses: proxy.uses,
    dropped: proxy.dropped,
    isBroken: () => broken,
    onBroken(given) {
      end = given;
    },
    close() {
      door?.close();
      proxy.close();
      if (child.connected) child.disconnect();
    },
  };
}
