import type { Logger } from '../kernel/ports.ts';
import type { LiveStreamEvent } from '../protocol/events.ts';
import type { App } from './open-app.ts';

/**
 * Tells what changes in the workspaces, whoever changes it, until they are closed. Looking over a large tree takes a
 * while, and nobody waits for it.
 */
export function tellFileChanges(
  apps: ReadonlyMap<string, App>,
  { tell, log }: { tell: (event: LiveStreamEvent) => void; log: Logger },
): void {
  for (const [id, { workspace }] of apps) {
    const watching = workspace.watch(({ events, complete }) => {
      const changes = events.map(({ path, type: kind, callId }) => ({ path, kind, callId }));
      tell({ type: 'file.changed', workspace: id, at: Date.now(), data: { changes, complete } });
    });
    void watching.then((watch) => {
      if (!watch.ok) log.warn({ workspace: id }, `Changes of files are not told: ${watch.error.message}`);
    });
  }
}
