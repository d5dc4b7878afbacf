import type { ReactNode } from 'react';
import type { ApprovalDetail } from '../../src/protocol/approvals.ts';
import { useWords } from '../words/words.ts';

/** A question that is no longer open: somebody answered it, here or elsewhere, or its time was over. */
export function Answered({ approval }: { approval: ApprovalDetail }): ReactNode {
  const say = useWords();
  if (approval.state === 'expired') return <p role="status">{say('answerExpired')}</p>;
  const answer = say(approval.state === 'approved' ? 'verdictAllow' : 'verdictDeny');
  return <p role="status">{say('answeredElsewhere', { name: approval.decidedBy ?? '?', answer })}</p>;
}
