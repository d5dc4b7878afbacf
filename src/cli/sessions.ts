import { randomBytes } from 'node:crypto';
import type { App } from '../app/open-app.ts';
import { workspaceElsewhere } from '../app/open-session.ts';
import { type Cli, failWith } from './cli.ts';

interface SessionOption {
  readonly session: string;
  /** Option that named the session. */
  readonly option: '--session' | '--resume' | '<session>';
}

/** Whether the session belongs to this workspace; otherwise prints where it belongs. */
export async function isInWorkspace(cli: Cli, app: App, { session, option }: SessionOption): Promise<boolean> {
  const elsewhere = await workspaceElsewhere(app, session);
  if (elsewhere === undefined) return true;
  failWith(cli, { code: 'INVALID_INPUT', message: cli.words.otherWorkspace(session, elsewhere, option) });
  return false;
}

/** Makes a session id that sorts by time and is readable: `chat-20270131-154501-k3f9`. */
export function newSessionId(kind: 'chat' | 'run' | 'demo'): string {
  const [day = '', time = ''] = new Date().toISOString().replace(/[-:]/g, '').split('T');
  return `${kind}-${day}-${time.slice(0, 6)}-${randomBytes(3).toString('hex')}`;
}
