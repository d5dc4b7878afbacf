import type { App } from '../app/open-app.ts';
import { workspaceElsewhere } from '../app/open-session.ts';
import { type Cli, failWith } from './cli.ts';

interface Named {
  readonly session: string;
  /** Which option named it. */
  readonly option: '--session' | '--resume';
}

/** Whether a session may go on in this workspace; says where it may if not. */
export async function isHere(cli: Cli, app: App, { session, option }: Named): Promise<boolean> {
  const elsewhere = await workspaceElsewhere(app, session);
  if (elsewhere === undefined) return true;
  failWith(cli, { code: 'INVALID_INPUT', message: cli.words.otherWorkspace(session, elsewhere, option) });
  return false;
}
