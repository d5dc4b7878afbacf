import type { Logger } from '../kernel/ports.ts';
import type { App } from './open-app.ts';

export interface FileNotices {
  /** Tells paths that changed, relative to the workspace. Returns how to stop. */
  watch(listener: (path: string) => void): () => void;
  /** From now on also those that no call of ours changed: that takes a watch on every folder, so it is asked for. */
  observe(): void;
}

/** Which files of a workspace changed, for whoever wants to know. */
export function fileNotices({ executor, workspace }: App, log: Logger): FileNotices {
  const listeners = new Set<(path: string) => void>();
  const touched = new Map<string, string[]>();
  let isObserving = false;
  const tell = (paths: readonly string[]) => {
    for (const path of paths) for (const listener of listeners) listener(path);
  };
  executor.on((event) => {
    if (isObserving || listeners.size === 0) return;
    if (event.type === 'call.started') {
      const paths = event.data.access.flatMap((each) =>
        each.kind === 'fs.write' || each.kind === 'fs.delete' ? [each.path] : [],
      );
      if (paths.length > 0) touched.set(event.callId, paths);
    }
    if (event.type !== 'call.finished') return;
    tell(touched.get(event.callId) ?? []);
    touched.delete(event.callId);
  });
  return {
    watch(listener) {
      const entry = (path: string) => listener(path);
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    observe() {
      if (isObserving) return;
      isObserving = true;
      void workspace
        .watch(({ events }) => tell(events.map(({ path }) => path)))
        .then((watching) => {
          if (watching.ok) return;
          isObserving = false;
          log.warn({}, `Only changes by calls are told: ${watching.error.message}`);
        });
    },
  };
}
