import { type ReactNode, useState } from 'react';
import type { ApprovalView } from '../../src/protocol/approvals.ts';
import { api, messageOf } from '../api/api.ts';
import { Trouble } from '../show/trouble.tsx';
import { forget } from '../state/server-state.ts';
import { useWords } from '../words/words.ts';
import { useArmed } from './use-armed.ts';

/** No needs no reading; yes does, so from here it leads to the dialog that shows exactly what would run. */
export function QuickAnswer({
  approval,
  among,
  onOpen,
}: {
  approval: ApprovalView;
  /** Whatever changes when this may have moved to where another stood. */
  among: string;
  onOpen: () => void;
}): ReactNode {
  const say = useWords();
  const armed = useArmed(approval.id);
  const still = useArmed(among);
  const [trouble, setTrouble] = useState<string | null>(null);
  const deny = () =>
    api('deny', { at: { id: approval.id }, body: {} }).then(
      () => forget(approval.id),
      (error) => setTrouble(messageOf(error)),
    );
  // Not `disabled`: it keeps the focus while it does nothing.
  return (
    <>
      <button type="button" className="button danger" aria-disabled={!still} onClick={() => still && void deny()}>
        {say('deny')}
      </button>
      <button type="button" className="button primary" disabled={!armed} onClick={onOpen}>
        {say('open')}
      </button>
      <Trouble text={trouble} />
    </>
  );
}
