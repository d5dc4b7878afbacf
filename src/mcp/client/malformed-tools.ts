import { isSpecType, type Transport } from '@modelcontextprotocol/client';

/**
 * The library refuses a whole list of tools for one that is malformed. From a connected transport such a tool is taken
 * out before the library looks, and told by its name, so that the server's other tools can be used.
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
