import { answersIn } from '../app/open-answers.ts';
import type { App } from '../app/open-app.ts';
import type { ApprovalRecord } from '../kernel/approval.ts';
import type { ApprovalRequest, Approver } from '../kernel/ports.ts';
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
    for (let open = true; open && !signal.aborted; ) {
      const { approved, modifiedArgs, message } = await approver.ask(toRequest(approval), signal);
      // Nobody answered: it was only no longer asked.
      if (signal.aborted) return;
      const edit = modifiedArgs === undefined ? undefined : await answers.review(approval.id, modifiedArgs);
      const digest = edit?.kind === 'reviewed' ? edit.edit.digest : undefined;
      const answered = approved
        ? await answers.approve(approval.id, 'terminal', { modifiedArgs, digest })
        : await answers.deny(approval.id, 'terminal', message);
      open = answered.kind === 'refused';
      if (answered.kind === 'refused') cli.note(`  ${cli.words.said(answered.error.message)}`);
      else if (answered.kind !== 'answered') cli.note(`  ${cli.words.tooLate(approval.id)}`);
    }
  }
}

function toRequest({ id, callId, session, tool, args, reason, digest, shown }: ApprovalRecord): ApprovalRequest {
  const nothing = { summary: tool, access: [], verdicts: [], preview: [], seen: {} };
  const seen = shown ?? nothing;
  const { summary, access } = seen;
  return {
    id,
    stepId: callId,
    session,
    tool,
    args: args as Record<string, unknown>,
    reason,
    summary,
    access,
    digest,
    shown: seen,
  };
}
