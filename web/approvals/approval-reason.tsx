import type { ReactNode } from 'react';
import type { VerdictPart } from '../../src/protocol/access.ts';
import type { ApprovalDetail } from '../../src/protocol/approvals.ts';
import { VisibleText } from '../show/visible-text.tsx';
import { useServerWords, useWords } from '../words/words.ts';

export function ApprovalReason({ approval }: { approval: ApprovalDetail }): ReactNode {
  const say = useWords();
  const told = useServerWords();
  return (
    <section aria-label={say('headingReason')}>
      <h3 className="mb-1 font-semibold text-sm">{say('headingReason')}</h3>
      <p className="[overflow-wrap:anywhere]">
        <VisibleText text={told(approval.reason)} />
      </p>
      <VerdictList parts={approval.verdicts} />
    </section>
  );
}

const WORDS = { allow: 'verdictAllow', ask: 'verdictAsk', deny: 'verdictDeny' } as const;
const COLOURS = { allow: 'text-good', ask: 'text-warn', deny: 'text-bad' } as const;

/** Each judged part of the call with its own verdict. */
function VerdictList({ parts }: { parts: readonly VerdictPart[] }): ReactNode {
  const say = useWords();
  const told = useServerWords();
  return (
    <ul className="mt-1 flex flex-col gap-0.5 text-sm">
      {parts.map(({ what, verdict, rule, reason }, index) => (
        <li key={index} className="flex flex-wrap gap-x-2">
          <strong className={COLOURS[verdict]}>{say(WORDS[verdict])}</strong>
          <code className="code">
            <VisibleText text={what} />
          </code>
          <span className="text-soft">
            {say('rule')}: <VisibleText text={rule} />. <VisibleText text={told(reason)} />
          </span>
        </li>
      ))}
    </ul>
  );
}
