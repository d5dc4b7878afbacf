import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { ServerConfig } from './server-config.ts';

/** As much as our own door takes. */
export const LONGEST_MESSAGE_MB = 16;

/**
 * A server as a child process. Whoever closes it waits until it ended or was killed: the library closes it as well when
 * a connection fails, without waiting, and a second `close` of its own would return at once.
 */
export function serverProcess(config: Extract<ServerConfig, { command: string }>): StdioClientTransport {
  const transport = new StdioClientTransport({
    command: config.command,
    args: [...(config.args ?? [])],
    env: { ...getDefaultEnvironment(), ...config.env },
    stderr: 'pipe',
    maxBufferSize: LONGEST_MESSAGE_MB * 1024 * 1024,
    ...(config.cwd !== undefined && { cwd: config.cwd }),
  });
  const close = transport.close.bind(transport);
  let closing: Promise<void> | undefined;
  transport.close = () => {
    closing ??= close();
    return closing;
  };
  return transport;
}
