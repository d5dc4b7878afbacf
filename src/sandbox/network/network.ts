import type { ChildProcess } from 'node:child_process';
import type { Server } from 'node:net';
import type { Dialer } from '../../kernel/world/dialer.ts';
import type { NetworkUse, RunRequest } from '../../kernel/world/sandbox.ts';
import { receiveDoor } from './proxy-listener.ts';

/**
 * A run has a network namespace with nothing in it. Where hosts are allowed, a small program of ours runs inside before
 * the command: it opens a listening socket there and hands it out to us over the channel that Node gives its children.
 * So the proxy runs here, its door is in there, and nothing else leads out.
 */
export interface SandboxNetwork {
  uses(): readonly NetworkUse[];
  dropped(): number;
  /** Something came out of the run that was not its door. `end` is called when it does. */
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
export const DOOR_PROGRAM = `
const server = require('node:net').createServer();
server.listen(${PROXY_PORT}, '127.0.0.1', () => process.send('door', server, () => process.exit(0)));
`;

/** Loads the proxy first: most runs have no network, and need no HTTP. */
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
  receiveDoor(child, {
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
