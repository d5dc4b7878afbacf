import type { Answers } from '../../kernel/call/approval-answers.ts';
import type { ApprovalRecord } from '../../kernel/approval.ts';
import type { ApprovalRequest, Approver } from '../../kernel/ports.ts';
import type { Cli } from '../cli.ts';
import { harmless } from '../text/style.ts';

interface Asking {
  readonly answers: Answers;
  /** Nobody needs an answer from here any more. */
  readonly signal: AbortSignal;
}

/** Asks a question that is in the store, again if the answer is refused. False when it was no longer asked before that. */
export async function askAbout(
  cli: Cli,
  approver: Approver,
  approval: ApprovalRecord,
  { answers, signal }: Asking,
): Promise<boolean> {
  for (let open = true; open; ) {
    const { approved, modifiedArgs, message } = await approver.ask(toRequest(approval), signal);
    if (signal.aborted) return false;
    const edit = modifiedArgs === undefined ? undefined : await answers.review(approval.id, modifiedArgs);
    const digest = edit?.kind === 'reviewed' ? edit.edit.digest : undefined;
    const answered = approved
      ? await answers.approve(approval.id, 'terminal', { modifiedArgs, digest })
      : await answers.deny(approval.id, 'terminal', message);
    open = answered.kind === 'refused';
    if (answered.kind === 'refused') cli.note(`  ${harmless(cli.words.said(answered.error.message))}`);
    else if (answered.kind !== 'answered') cli.note(`  ${cli.words.tooLate(approval.id)}`);
  }
  return true;
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
