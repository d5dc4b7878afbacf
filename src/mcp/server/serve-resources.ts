import {
  type InputRequiredResult,
  isInputRequiredResult,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ok, type Result } from '../../kernel/result.ts';
import type { Connection } from './connection.ts';
import type { Door } from './door.ts';
import type { ResourceReading, Resources } from './resources.ts';
import { runCall } from './run-call.ts';

export function serveResources(door: Door, connection: Connection, resources: Resources): void {
  const { server, subscribed } = connection;
  server.setRequestHandler('resources/list', async (_request, ctx) => {
    const listed = await resolveReading(door, connection, resources.list(), ctx);
    if (isInputRequiredResult(listed)) throw new Error('A list is not answered with a question.');
    if (!listed.ok) throw new Error(listed.error.message);
    return { resources: [...listed.value] };
  });
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...resources.templates] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, ctx) => {
    const read = await resolveReading(door, connection, resources.read(uri), ctx);
    if (isInputRequiredResult(read)) return read;
    if (!read.ok) throw new ResourceNotFoundError(uri, read.error.message);
    return { contents: [...read.value] };
  });
  // The 2026 revision has `subscriptions/listen` instead, which the SDK serves.
  if (connection.era === 'modern') return;
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    if (subscribed.size < MAX_SUBSCRIPTIONS) subscribed.add(uri);
    resources.observe?.();
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
}

async function resolveReading<T>(
  door: Door,
  connection: Connection,
  reading: ResourceReading<T>,
  ctx: ServerContext,
): Promise<Result<T> | InputRequiredResult> {
  if (!('tool' in reading)) return reading;
  const ended = await runCall(door, connection, { name: reading.tool, args: reading.args }, ctx);
  if (isInputRequiredResult(ended)) return ended;
  const { result } = ended;
  return result.ok ? ok(reading.toAnswer(result.value)) : { ok: false, error: result.error };
}

const MAX_SUBSCRIPTIONS = 1000;

/** Notifies a client of a change. In the 2026 revision every change is sent, and the SDK filters by subscription. */
export function tellChange({ era, subscribed }: Connection, server: Server, uri: string): void {
  if (era === 'legacy' && !subscribed.has(uri)) return;
  server.sendResourceUpdated({ uri }).catch(() => {
    // The client is gone.
  });
}
