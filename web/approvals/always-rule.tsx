import { type ReactNode, useState } from 'react';
import type { ApprovalDetail } from '../../src/protocol/approvals.ts';
import { Visible } from '../show/visible.tsx';
import { useWords } from '../words/words.ts';

/** The rule that would be saved, before it is: it can be read, changed, and is checked again by the server. */
export function AlwaysRule({
  approval,
  disabled,
  onSave,
}: {
  approval: ApprovalDetail;
  disabled: boolean;
  onSave: (rule: string) => void;
}): ReactNode {
  const say = useWords();
  const [rule, setRule] = useState(approval.always?.rule ?? '');
  if (approval.always === null) return <p className="text-soft">{say('alwaysNone')}</p>;
  return (
    <section aria-label={say('alwaysTitle')} className="rounded-lg border border-warn p-3">
      <label className="font-semibold text-sm">
        {say('alwaysTitle')}
        <input className="field code mt-1" value={rule} onChange={({ target }) => setRule(target.value)} />
      </label>
      <List title={say('alwaysCovers')} items={approval.always.covers} />
      <List title={say('alwaysRefuses')} items={approval.always.refuses.slice(0, 5)} />
      <button
        type="button"
        className="button primary mt-2"
        disabled={disabled || rule.trim() === ''}
        onClick={() => onSave(rule)}
      >
        {say('alwaysSave')}
      </button>
    </section>
  );
}

function List({ title, items }: { title: string; items: readonly string[] }): ReactNode {
  if (items.length === 0) return null;
  return (
    <div className="mt-1 text-sm">
      <span className="text-soft">{title}</span>
      <ul>
        {items.map((item) => (
          <li key={item} className="code">
            <Visible text={item} />
          </li>
        ))}
      </ul>
    </div>
  );
}
