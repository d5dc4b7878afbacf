import { foldersAbove } from '../../src/kernel/text/folders-above.ts';
import type { PathDecisionView } from '../../src/protocol/path-decisions.ts';
import { api } from '../api/api.ts';
import { health, loadPathDecisions, sessions } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import type { Words } from '../words/en.ts';

export type PathDecisionKind = PathDecisionView['kind'];

/** Who made a decision and when, by its kind. */
export const DECIDED: Record<PathDecisionKind, keyof Words> = {
  commands: 'decidedCommands',
  'no-secret': 'decidedNoSecret',
  'agreed-text': 'decidedAgreed',
};

/** The decisions that hold for a path of a workspace: about itself or a folder above it. */
export function decisionsAbout(
  all: readonly PathDecisionView[],
  { path, workspace }: { readonly path: string; readonly workspace: string | undefined },
): readonly PathDecisionView[] {
  const places = new Set([path, ...foldersAbove(path)]);
  return all.filter((decision) => decision.workspace === workspace && places.has(decision.path));
}

/** Returns the workspace of a session; undefined while the page does not know it and the server has several. */
export function useWorkspaceOf(session: string | null): string | undefined {
  const known = useStore(sessions).find(({ id }) => id === session)?.workspace;
  const served = useStore(health)?.workspaces ?? [];
  return known ?? (served.length === 1 ? served[0]?.id : undefined);
}

/** Returns the workspace whose files the page shows. */
export function useShownWorkspace(): string | undefined {
  return useStore(health)?.workspaces[0]?.id;
}

export async function decide(path: string, kind: PathDecisionKind, workspace: string): Promise<void> {
  await api('decidePath', { body: { path, kind, workspace } });
  await loadPathDecisions();
}

export async function takeBack({ id }: Pick<PathDecisionView, 'id'>): Promise<void> {
  await api('takePathBack', { at: { id } });
  await loadPathDecisions();
}
