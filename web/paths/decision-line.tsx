import { type ReactNode, useState } from 'react';
import type { PathDecisionView } from '../../src/protocol/path-decisions.ts';
import { messageOf } from '../api/api.ts';
import { formatDateTime } from '../show/format.ts';
import { Trouble } from '../show/trouble.tsx';
import { health } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { language as shownLanguage, useWords } from '../words/words.ts';
import { DECIDED, takeBack } from './path-decisions.ts';

/** A decision in words, with who made it and when; an admin can take it back. */
export function DecisionLine({ decision }: { decision: PathDecisionView }): ReactNode {
  const say = useWords();
  const language = useStore(shownLanguage);
  const isAdmin = useStore(health)?.you.role === 'admin';
  const [trouble, setTrouble] = useState<string | null>(null);
  const { kind, by, at, path } = decision;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      <span className="min-w-48 flex-1 [overflow-wrap:anywhere]">
        {say(DECIDED[kind], { name: by, time: formatDateTime(at, language) })}
      </span>
      {isAdmin && (
        <button
          type="button"
          className="button"
          aria-label={say('takeBackPath', { path })}
          onClick={() => void takeBack(decision).catch((error) => setTrouble(messageOf(error)))}
        >
          {say('takeBack')}
        </button>
      )}
      <Trouble text={trouble} />
    </div>
  );
}
