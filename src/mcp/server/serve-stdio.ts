import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { serveStdio as serveOverPipe } from '@modelcontextprotocol/server/stdio';
import type { Logger } from '../../kernel/ports.ts';
import { connect, follow } from './connect.ts';
import type { Door } from './door.ts';
import { LineTransport } from './line-transport.ts';

export interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly log: Logger;
  /** Ends the connection as if the client had disconnected. */
  readonly signal: AbortSignal;
}

/** Serves the client at the other end of a pipe. Resolves when it has disconnected and all of its calls ended. */
export function serveStdio(door: Door, { input, output, log, signal }: StdioOptions): Promise<void> {
  return new Promise((resolve) => {
    const transport = new LineTransport(input, output);
    const session = `mcp-${randomBytes(12).toString('hex')}`;
    const serve = (era: 'legacy' | 'modern') => {
      const connection = connect(door, era, session);
      follow(door, connection);
      return connection.server;
    };
    serveOverPipe(({ era }) => serve(era), {
      transport,
      onerror: (error) => log.warn({}, `MCP over stdio: ${error.message}`),
    });
    const received = transport.onmessage;
    transport.onmessage = (message, extra) => {
      if ('method' in message && message.method === 'subscriptions/listen') door.options.resources?.observe?.();
      received?.(message, extra);
    };
    // The SDK has set its own handler: the connection is over when that is done.
    const closed = transport.onclose;
    transport.onclose = () => {
      closed?.();
      resolve();
    };
    const stop = () => void transport.close();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}
