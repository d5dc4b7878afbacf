import {
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
  type Server,
} from '@modelcontextprotocol/server';
import type { Result } from '../../kernel/result.ts';
import type { Connection } from './connection.ts';

export type ResourceContent = ReadResourceResult['contents'][number];

/** What a client can read beside calling tools. Reading is a call like any other: judged, asked about and recorded. */
export interface Resources {
  readonly templates: readonly ResourceTemplateType[];
  list(session: string): Promise<Result<readonly Resource[]>>;
  read(uri: string, session: string): Promise<Result<readonly ResourceContent[]>>;
  /** Tells the uri of what changed. Returns how to stop. */
  watch?(listener: (uri: string) => void): () => void;
  /** Somebody wants to hear of changes: from now on also of those that no call of ours made. */
  observe?(): void;
}

export function serveResources(connection: Connection, resources: Resources): void {
  const { server, session, subscribed } = connection;
  server.setRequestHandler('resources/list', async () => {
    const listed = await resources.list(session);
    if (!listed.ok) throw new Error(listed.error.message);
    return { resources: [...listed.value] };
  });
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...resources.templates] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const read = await resources.read(uri, session);
    if (!read.ok) throw new ResourceNotFoundError(uri, read.error.message);
    return { contents: [...read.value] };
  });
  // The 2026 revision has `subscriptions/listen` instead, which the SDK serves.
  if (connection.era === 'modern') return;
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    if (subscribed.size < MOST_SUBSCRIPTIONS) subscribed.add(uri);
    resources.observe?.();
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
}

const MOST_SUBSCRIPTIONS = 1000;

/** In the 2026 revision every change is sent, and the SDK keeps to what was subscribed. */
export function tellChange({ era, subscribed }: Connection, server: Server, uri: string): void {
  if (era === 'legacy' && !subscribed.has(uri)) return;
  server.sendResourceUpdated({ uri }).catch(() => {
    // The client is gone.
  });
}
