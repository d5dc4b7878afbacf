import type { Event } from '../../kernel/call/event.ts';
import type { Logger } from '../../kernel/ports.ts';
import type { LiveStreamEvent } from '../../protocol/events.ts';
import type { App } from '../open-app.ts';

export interface FileNotices {
  /** Reports changed paths, relative to the workspace. Returns a function that stops it. */
  watch(listener: (path: string) => void): () => void;
  /** Reports changes from outside, too. This watches every folder, so it is done only on request. */
  observe(): void;
}

/** Reports changed files of a workspace to listeners. */
export function createFileNotices({ executor, workspace }: App, log: Logger): FileNotices {
  const listeners = new Set<(path: string) => void>();
  const touched = new Map<string, string[]>();
  let isObserving = false;
  const tell = (paths: readonly string[]) => {
    for (const path of paths) for (const listener of listeners) listener(path);
  };
  const heard = (event: Event) => {
    if (isObserving) return;
    if (event.type === 'call.started') {
      const paths = event.data.access.flatMap((each) =>
        each.kind === 'fs.write' || each.kind === 'fs.delete' ? [each.path] : [],
      );
      if (paths.length > 0) touched.set(event.callId, paths);
    }
    if (event.type !== 'call.finished') return;
    tell(touched.get(event.callId) ?? []);
    touched.delete(event.callId);
  };
  let stop: (() => void) | undefined;
  return {
    watch(listener) {
      const entry = (path: string) => listener(path);
      listeners.add(entry);
      stop ??= executor.on(heard, ['call.started', 'call.finished']);
      return () => {
        listeners.delete(entry);
        if (listeners.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
    observe() {
      if (isObserving) return;
      isObserving = true;
      void workspace
        .watch(({ events }) => tell(events.map(({ path }) => path)))
        .then((watching) => {
          if (watching.ok) return;
          isObserving = false;
          log.warn({}, `Only file changes by calls are reported: ${watching.error.message}`);
        });
    },
  };
}

/**
 * Reports all file changes in the workspaces until they are closed. Scanning a large tree takes a while, so nothing
 * waits for it.
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
      if (!watch.ok) log.warn({ workspace: id }, `File changes are not reported: ${watch.error.message}`);
    });
  }
}
