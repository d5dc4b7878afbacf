import type { Answers, RuleProposal } from '../../kernel/call/approval-answers.ts';
import type { ApprovalRequest, ApprovalResponse } from '../../kernel/ports.ts';
import type { Result } from '../../kernel/result.ts';
import type { Always } from '../../mcp/server/approver.ts';

/** «Always» in a client's form goes the way of every other door: the same proposal, the same checks, the same record. */
export function alwaysInForms(
  answers: Pick<Answers, 'approve'>,
  propose: (request: ApprovalRequest) => Promise<Result<RuleProposal>>,
): Always {
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
          return { approved: false, by, message: 'it was answered elsewhere, or its time was over.' };
      }
    },
  };
}
