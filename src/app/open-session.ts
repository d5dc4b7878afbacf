import type { App } from './open-app.ts';
import { workspaceId } from './workspace-id.ts';

const MAX_TITLE = 80;

/** Records once which workspace a session belongs to, so that other doors and processes find its calls. */
export async function openSession({ store, workspace }: App, session: string, title: string): Promise<void> {
  if (((await store.session(session))?.workspace ?? null) !== null) return;
  const said = { workspace: workspaceId(workspace.root), title: title.slice(0, MAX_TITLE), agent: null };
  const data = { ...said, by: 'terminal' };
  await store.note(session, { type: 'session.created', callId: null, at: Date.now(), data });
}

/** Returns the workspace of a session that belongs to another one: its messages and approvals are not for this one. */
export async function workspaceElsewhere({ store, workspace }: App, session: string): Promise<string | undefined> {
  const found = (await store.session(session))?.workspace ?? undefined;
  return found === workspaceId(workspace.root) ? undefined : found;
}
