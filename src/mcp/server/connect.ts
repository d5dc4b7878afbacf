import { Server } from '@modelcontextprotocol/server';
import { callTool } from './call-tool.ts';
import type { Connection } from './connection.ts';
import { describeTool } from './describe-tool.ts';
import type { Door } from './door.ts';
import { serveResources, tellChange } from './serve-resources.ts';

/** A server for one client, of either revision, from the one definition: what the executor offers. */
export function connect(door: Door, era: Connection['era'], session: string): Connection {
  const { executor, resources, version, name = 'toolwright', instructions, extend } = door.options;
  const server = new Server(
    { name, title: 'Toolwright', version },
    {
      capabilities: {
        tools: { listChanged: true },
        ...(resources !== undefined && { resources: { subscribe: resources.watch !== undefined } }),
      },
      ...(instructions !== undefined && { instructions }),
      requestState: { verify: door.states.verify },
      inputRequired: { legacyShim: false },
    },
  );
  const connection: Connection = { era, session, server, calls: new Set(), subscribed: new Set() };
  server.setRequestHandler('tools/list', () => ({ tools: executor.offered().map(describeTool) }));
  server.setRequestHandler('tools/call', (request, ctx) => callTool(door, connection, request, ctx));
  if (resources !== undefined) serveResources(door, connection, resources);
  extend?.(server);
  return connection;
}

/** For a client that stays: it hears of changes, and when it goes, what it still had under way ends. */
export function follow(door: Door, connection: Connection): void {
  const { executor, resources } = door.options;
  const { server } = connection;
  const stop = [
    executor.registry.onChange(soon(() => server.sendToolListChanged().catch(() => {}))),
    resources?.watch?.((uri) => tellChange(connection, server, uri)),
  ];
  server.onclose = () => {
    for (const each of stop) each?.();
    door.leave(connection);
  };
}

/** Many changes at once are told once. */
export function soon(tell: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      tell();
    }, TELL_AFTER_MS).unref();
  };
}

const TELL_AFTER_MS = 50;
