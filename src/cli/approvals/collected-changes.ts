import { beginCollecting } from '../../app/admin/collected-changes.ts';
import type { App } from '../../app/open-app.ts';
import { type Cli, failWith } from '../cli.ts';

/** Lets the session collect its changes, unless it does already. False when it cannot, which was said. */
export async function collectFor(cli: Cli, app: App, session: string): Promise<boolean> {
  if (app.sessions.of(app.workspace.root, session) !== undefined) return true;
  const begun = await beginCollecting(app, { session, onto: null, by: 'terminal' });
  if (!begun.ok) failWith(cli, begun.error);
  return begun.ok;
}

/** Says how to decide about what the session has collected. */
export async function tellCollected(cli: Cli, app: App, session: string): Promise<void> {
  const stage = app.sessions.of(app.workspace.root, session);
  const seen = stage && (await app.sessions.review(stage));
  if (stage !== undefined && seen?.ok && seen.value !== null) cli.note(cli.words.nextKeep(stage.id));
}
