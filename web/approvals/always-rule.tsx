import { type ReactNode, useState } from 'react';
import type { ApprovalDetail } from '../../src/protocol/approvals.ts';
import { VisibleText } from '../show/visible-text.tsx';
import { useServerWords, useWords } from '../words/words.ts';

/** The rules to be saved, one per line, which a person can read and edit first. The server checks them again. */
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
  const told = useServerWords();
  const [rule, setRule] = useState(approval.always?.rule ?? '');
  if (approval.always === null) return <p className="text-soft">{told(approval.whyNoRule ?? say('alwaysNone'))}</p>;
  const edited = rule.trim() !== approval.always.rule;
  return (
    <section
      ref={scrollIntoView}
      aria-label={say('alwaysTitle')}
      className="scroll-mb-4 rounded-lg border border-warn p-3"
    >
      <label className="text-sm">
        <span className="font-semibold">{say('alwaysTitle')}</span>
        <textarea
          className="field code mt-1"
          rows={rule.split('\n').length}
          spellCheck={false}
          value={rule}
          onChange={({ target }) => setRule(target.value)}
        />
      </label>
      {edited ? (
        <p className="mt-1 text-sm text-soft">{say('alwaysEdited')}</p>
      ) : (
        <ExampleList title={say('alwaysCovers')} items={approval.always.covers} />
      )}
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

function scrollIntoView(section: HTMLElement | null): void {
  section?.scrollIntoView({ block: 'nearest' });
}

function ExampleList({ title, items }: { title: string; items: readonly string[] }): ReactNode {
  if (items.length === 0) return null;
  return (
    <div className="mt-1 text-sm">
      <span className="text-soft">{title}</span>
      <ul className="list-disc pl-5">
        {items.map((item) => (
          <li key={item} className="code">
            <VisibleText text={item} />
          </li>
        ))}
      </ul>
    </div>
  );
}
