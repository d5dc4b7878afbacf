import type { ApprovalRecord } from '../../kernel/call/approval.ts';
import type { ApprovalAnswers } from '../../kernel/call/approval-answers.ts';
import type { ApprovalRequest, Approver } from '../../kernel/ports.ts';
import type { Cli } from '../cli.ts';
import { harmless } from '../text/style.ts';

interface ApprovalPrompt {
  readonly answers: ApprovalAnswers;
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

/**
 * Asks a stored question, again if the answer is refused. Returns false when the question was withdrawn before an
 * answer.
 */
export async function askApproval(
  cli: Cli,
  approver: Approver,
  approval: ApprovalRecord,
  { answers, signal }: ApprovalPrompt,
): Promise<boolean> {
  for (let open = true; open; ) {
    const { approved, modifiedArgs, message, recorded } = await approver.ask(toRequest(approval), signal);
    if (recorded) return true;
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
