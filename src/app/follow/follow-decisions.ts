import { isDeepStrictEqual } from 'node:util';
import type { Ledger } from '../../kernel/call/ledger.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Logger } from '../../kernel/ports.ts';
import type { PathDecision, PathDecisions } from '../../kernel/world/path-decisions.ts';
import { workspaceId } from '../workspace-id.ts';

export interface FollowedDecisions extends PathDecisions {
  /** Applies the decisions of the store now instead of a moment later. */
  reload(): Promise<void>;
  stop(): void;
}

type DecisionsByPath = ReadonlyMap<string, readonly PathDecision[]>;

/** Keeps the decisions about one workspace in memory, and current when another process records or takes one back. */
export async function followDecisions(
  store: Ledger,
  { root, log }: { readonly root: string; readonly log: Logger },
): Promise<FollowedDecisions> {
  const id = workspaceId(root);
  const listeners = new Set<(workspace: string) => void>();
  let current: DecisionsByPath = new Map();
  let loading: Promise<void> = Promise.resolve();
  const load = async () => {
    const held = (await store.pathDecisions()).filter(({ workspace }) => workspace === id);
    const next = byPath(
      held.map(({ path, kind, digest, by, at }) => {
        return { workspace: root, path, kind, digest, by, at: new Date(at).toISOString() };
      }),
    );
    if (isDeepStrictEqual(next, current)) return;
    current = next;
    for (const listener of listeners) listener(root);
  };
  /** Loads one after another: the last to begin is the last to end and has the newest decisions. */
  const reload = () => {
    loading = loading.then(load, load);
    return loading;
  };
  let again: NodeJS.Timeout | undefined;
  const follow = () => {
    reload().catch((error) => {
      log.warn({}, `Decisions about paths cannot be read, trying again soon: ${messageOf(error)}`);
      clearTimeout(again);
      again = setTimeout(follow, AGAIN_MS).unref();
    });
  };
  const unfollow = store.follow(follow, { types: ['path.decided', 'path.taken_back'] });
  // Loaded after following began, so that no decision made meanwhile is missed.
  await reload();
  return {
    of: (workspace, path) => (workspace === root && current.size > 0 ? decisionsAbove(current, path) : NONE),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reload,
    stop() {
      unfollow();
      clearTimeout(again);
    },
  };
}

const AGAIN_MS = 1000;
const NONE: readonly PathDecision[] = [];

function byPath(decisions: readonly PathDecision[]): DecisionsByPath {
  return Map.groupBy(decisions, ({ path }) => path);
}

/** Those about the path itself and about a folder above it. A path that goes up again has none: it is not where it seems. */
function decisionsAbove(decisions: DecisionsByPath, path: string): readonly PathDecision[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) return NONE;
  return names.flatMap((_, end) => decisions.get(names.slice(0, end + 1).join('/')) ?? []);
}
