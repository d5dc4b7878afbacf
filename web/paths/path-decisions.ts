import { foldersAbove } from '../../src/kernel/text/folders-above.ts';
import type { PathDecisionView } from '../../src/protocol/path-decisions.ts';
import { api } from '../api/api.ts';
import { health, loadPathDecisions, sessions } from '../state/server-state.ts';
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

/** Returns the workspace of a session; undefined where the page does not know it and cannot mean but one. */
export function workspaceOf(session: string | null): string | undefined {
  const known = sessions.get().find(({ id }) => id === session)?.workspace;
  const served = health.get()?.workspaces ?? [];
  return known ?? (served.length === 1 ? served[0]?.id : undefined);
}

/** The workspace whose files the page shows. */
export function shownWorkspace(): string | undefined {
  return health.get()?.workspaces[0]?.id;
}

export async function decide(path: string, kind: PathDecisionKind, workspace: string): Promise<void> {
  await api('decidePath', { body: { path, kind, workspace } });
  await loadPathDecisions();
}

export async function takeBack({ id }: Pick<PathDecisionView, 'id'>): Promise<void> {
  await api('takePathBack', { at: { id } });
  await loadPathDecisions();
}
