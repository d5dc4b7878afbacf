import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { pino } from 'pino';
import type { Approver } from '../../src/kernel/ports.ts';
import { type ApprovalWay, createMcpApprover, type McpApprover } from '../../src/mcp/server/approver.ts';
import { Door, type DoorOptions } from '../../src/mcp/server/door.ts';
import { type Principal, serveHttp } from '../../src/mcp/server/serve-http.ts';
import { serveStdio } from '../../src/mcp/server/serve-stdio.ts';
import { createToolwright, type Toolwright, type ToolwrightOptions } from '../../src/runtime/create-toolwright.ts';

type NodeRequest = Parameters<ReturnType<typeof toNodeHandler>>[0];

const log = pino({ level: 'silent' });

export interface DoorUnderTest extends Toolwright {
  readonly door: Door;
  readonly approver: McpApprover;
}

/** Opens tools behind an MCP door, with the approvers given. */
export function openDoor(
  options: ToolwrightOptions & {
    way?: ApprovalWay;
    inbox?: Approver;
    more?: Partial<Pick<DoorOptions, 'resources' | 'extend' | 'name' | 'instructions'>>;
  },
): DoorUnderTest {
  const { way = 'any', inbox, more, ...rest } = options;
  const approver = createMcpApprover(() => ({ way, inbox }));
  const toolwright = createToolwright({ approver, ...rest });
  const { executor, context } = toolwright;
  return { ...toolwright, approver, door: new Door({ executor, context, approver, version: '0.0.0', ...more }) };
}

/** Serves the door at a free port of this machine. */
export async function overHttp(
  door: Door,
  who: (request: Request) => Principal | null = () => ({ id: 'me', mayApprove: true }),
  options: { idleMs?: number } = {},
): Promise<{ url: URL; connections(): Promise<number>; close(): Promise<void> }> {
  const http = serveHttp(door, { log, ...options });
  const node = toNodeHandler({
    fetch: async (request: Request) => {
      const principal = who(request);
      return principal === null ? new Response(null, { status: 401 }) : http.handle(request, principal);
    },
  });
  const server: HttpServer = createServer((req, res) => void node(req as NodeRequest, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  return {
    url,
    connections: () => new Promise((resolve) => server.getConnections((_, count) => resolve(count))),
    async close() {
      await http.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type Message = Readonly<Record<string, unknown>> & { readonly params?: Readonly<Record<string, unknown>> };

/** The door at the other end of a pipe, for lines as they are; `received` grows with every message it sends. */
export function overPipe(door: Door): { send(line: unknown): void; received: Message[]; close(): Promise<void> } {
  const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
  const served = serveStdio(door, { input, output, log, signal: stop.signal });
  const received: Message[] = [];
  createInterface(output).on('line', (line) => received.push(JSON.parse(line)));
  return {
    send: (line) => void input.write(`${JSON.stringify(line)}\n`),
    received,
    async close() {
      stop.abort();
      await served;
    },
  };
}

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
