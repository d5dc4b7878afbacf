import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { ServerConfig } from './server-config.ts';

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
