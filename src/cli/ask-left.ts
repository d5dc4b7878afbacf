import { answersIn } from '../app/open-answers.ts';
import type { App } from '../app/open-app.ts';
import type { Approver } from '../kernel/ports.ts';
import { askAbout } from './approvals/ask-approval.ts';
import type { Cli } from './cli.ts';

interface Left {
  readonly app: App;
  readonly session: string;
  readonly signal: AbortSignal;
}

/**
 * Asks again what a session's earlier process asked and had no answer to: its calls wait for that and for nothing else.
 * Whoever takes such a call up acts on the answer.
 */
export async function askLeft(cli: Cli, approver: Approver, { app, session, signal }: Left): Promise<void> {
  const answers = answersIn(app);
  for (const approval of await app.store.approvals({ state: 'pending', session })) {
    if (signal.aborted || !(await askAbout(cli, approver, approval, { answers, signal }))) return;
  }
}
