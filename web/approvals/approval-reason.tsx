import type { ReactNode } from 'react';
import type { VerdictPart } from '../../src/protocol/access.ts';
import type { ApprovalDetail } from '../../src/protocol/approvals.ts';
import { Visible } from '../show/visible.tsx';
import { useServerWords, useWords } from '../words/words.ts';

export function WhyItAsks({ approval }: { approval: ApprovalDetail }): ReactNode {
  const say = useWords();
  const told = useServerWords();
  return (
    <section aria-label={say('whyAsks')}>
      <h3 className="mb-1 font-semibold text-sm">{say('whyAsks')}</h3>
      <p className="[overflow-wrap:anywhere]">
        <Visible text={told(approval.reason)} />
      </p>
      <Parts parts={approval.verdicts} />
    </section>
  );
}

const WORDS = { allow: 'verdictAllow', ask: 'verdictAsk', deny: 'verdictDeny' } as const;
const COLOURS = { allow: 'text-good', ask: 'text-warn', deny: 'text-bad' } as const;

/** Each thing that was judged, with its own verdict. */
function Parts({ parts }: { parts: readonly VerdictPart[] }): ReactNode {
  const say = useWords();
  const told = useServerWords();
  return (
    <ul className="mt-1 flex flex-col gap-0.5 text-sm">
      {parts.map(({ what, verdict, rule, reason }, index) => (
        <li key={index} className="flex flex-wrap gap-x-2">
          <strong className={COLOURS[verdict]}>{say(WORDS[verdict])}</strong>
          <code className="code">
            <Visible text={what} />
          </code>
          <span className="text-soft">
            {say('rule')}: <Visible text={rule} />. <Visible text={told(reason)} />
          </span>
        </li>
      ))}
    </ul>
  );
}
