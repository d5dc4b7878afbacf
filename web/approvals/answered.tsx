import type { ReactNode } from 'react';
import type { ApprovalDetail } from '../../src/protocol/approvals.ts';
import { useWords } from '../words/words.ts';

/** A question that is no longer open: somebody answered it, here or elsewhere, its time was over, or nobody needs it. */
export function Answered({ approval }: { approval: ApprovalDetail }): ReactNode {
  const say = useWords();
  if (approval.state === 'expired') return <p role="status">{say('answerExpired')}</p>;
  if (approval.state === 'superseded') return <p role="status">{say('answerNotNeeded')}</p>;
  const answer = say(approval.state === 'approved' ? 'verdictAllow' : 'verdictDeny');
  return <p role="status">{say('answeredElsewhere', { name: approval.decidedBy ?? '?', answer })}</p>;
}
