import { answersIn } from '../../app/approvals/open-answers.ts';
import type { App } from '../../app/open-app.ts';
import type { Approver } from '../../kernel/ports.ts';
import type { Cli } from '../cli.ts';
import { askApproval } from './ask-approval.ts';

export interface PendingSession {
  readonly app: App;
  readonly session: string;
  readonly signal: AbortSignal;
}

/**
 * Repeats the unanswered questions of a session's earlier process, on which its calls wait. The process that resumes
 * such a call acts on the answer.
 */
export async function askPendingApprovals(
  cli: Cli,
  approver: Approver,
  { app, session, signal }: PendingSession,
): Promise<void> {
  const answers = answersIn(app);
  for (const approval of await app.store.approvals({ state: 'pending', session })) {
    if (signal.aborted || !(await askApproval(cli, approver, approval, { answers, signal }))) return;
  }
}
