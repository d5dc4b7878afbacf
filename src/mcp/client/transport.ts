import { isSpecType, type Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { ServerConfig } from './server-config.ts';

/** The same limit as that of our own server. */
export const MAX_MESSAGE_MB = 16;

/**
 * Starts a server as a child process. `close` waits until it ended or was killed: the library also closes it, without
 * waiting, when a connection fails, and a second `close` of its own would return at once.
 */
export function serverProcess(config: Extract<ServerConfig, { command: string }>): StdioClientTransport {
  const transport = new StdioClientTransport({
    command: config.command,
    args: [...(config.args ?? [])],
    env: { ...getDefaultEnvironment(), ...config.env },
    stderr: 'pipe',
    maxBufferSize: MAX_MESSAGE_MB * 1024 * 1024,
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

/**
 * Removes malformed tools from the lists a connected transport receives and reports their names. The library would
 * otherwise refuse the whole list, and the server's other tools with it.
 */
export function leaveOutMalformedTools(transport: Transport, tell: (tool: string) => void): void {
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if ('result' in message && Array.isArray(message.result['tools'])) {
      message.result['tools'] = message.result['tools'].filter(isWellFormed);
    }
    receive?.(message, extra);
  };

  function isWellFormed(tool: unknown): boolean {
    const fits = isSpecType.Tool(tool);
    if (!fits) tell(String((tool as { name?: unknown } | null)?.name));
    return fits;
  }
}
