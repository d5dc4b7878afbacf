import type { Ledger } from '../../kernel/call/ledger.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Logger } from '../../kernel/ports.ts';
import { createPathDecisions } from '../../kernel/world/path-decision-list.ts';
import type { PathDecisions } from '../../kernel/world/path-decisions.ts';
import { workspaceId } from '../workspace-id.ts';

export interface FollowedDecisions extends PathDecisions {
  /** Applies the decisions of the store now instead of a moment later. */
  reload(): Promise<void>;
  stop(): void;
}

/** Keeps the decisions about one workspace in memory, and current when another process records or takes one back. */
export async function followDecisions(
  store: Ledger,
  { root, log }: { readonly root: string; readonly log: Logger },
): Promise<FollowedDecisions> {
  const id = workspaceId(root);
  const { set, ...decisions } = createPathDecisions();
  let loading: Promise<void> = Promise.resolve();
  const load = async () => {
    const held = (await store.pathDecisions()).filter(({ workspace }) => workspace === id);
    set(
      held.map(({ path, kind, digest, by, at }) => {
        return { workspace: root, path, kind, digest, by, at: new Date(at).toISOString() };
      }),
    );
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
    ...decisions,
    reload,
    stop() {
      unfollow();
      clearTimeout(again);
    },
  };
}

const AGAIN_MS = 1000;
