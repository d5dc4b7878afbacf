import type { App } from './open-app.ts';
import { workspaceId } from './workspace-id.ts';

const LONGEST_TITLE = 80;

/** Says once which workspace a session works in, so that other doors and other processes find its calls. */
export async function openSession({ store, workspace }: App, session: string, title: string): Promise<void> {
  if (((await store.session(session))?.workspace ?? null) !== null) return;
  const said = { workspace: workspaceId(workspace.root), title: title.slice(0, LONGEST_TITLE), agent: null };
  const data = { ...said, by: 'terminal' };
  await store.note(session, { type: 'session.created', callId: null, at: Date.now(), data });
}

/** The workspace of a session that belongs to another one: what was said and agreed to there is not about this one. */
export async function workspaceElsewhere({ store, workspace }: App, session: string): Promise<string | undefined> {
  const found = (await store.session(session))?.workspace ?? undefined;
  return found === workspaceId(workspace.root) ? undefined : found;
}
