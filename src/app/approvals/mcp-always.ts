import type { ApprovalAnswers, RuleProposal } from '../../kernel/call/approval-answers.ts';
import type { ApprovalRequest, ApprovalResponse } from '../../kernel/ports.ts';
import type { Result } from '../../kernel/result.ts';
import type { AlwaysRules } from '../../mcp/server/approver.ts';

/** Handles "always" in the form of an MCP client like every other door: same proposal, checks and record. */
export function alwaysInForms(
  answers: Pick<ApprovalAnswers, 'approve'>,
  propose: (request: ApprovalRequest) => Promise<Result<RuleProposal>>,
): AlwaysRules {
  return {
    async propose(request) {
      const proposed = await propose(request);
      return proposed.ok ? proposed.value.rules : [];
    },
    async approve({ id, digest }, by, rules): Promise<ApprovalResponse> {
      const answered = await answers.approve(id, by, { always: rules.join('\n'), digest });
      switch (answered.kind) {
        case 'answered':
          return { approved: true, recorded: true, by };
        case 'refused':
          return { approved: false, by, message: answered.error.message };
        case 'unknown':
        case 'over':
          return { approved: false, by, message: 'it was answered elsewhere or expired.' };
      }
    },
  };
}
