import { type ReactNode, useId, useState } from 'react';
import { messageOf } from '../api/api.ts';
import { useArmed } from '../approvals/use-armed.ts';
import { Trouble } from '../show/trouble.tsx';
import { useKeptFocus } from '../show/use-kept-focus.ts';
import { VisibleText } from '../show/visible-text.tsx';
import { health, pathDecisions } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { DecisionLine } from './decision-line.tsx';
import { decide, decisionsAbout } from './path-decisions.ts';

const CHOICES = [
  { kind: 'commands', name: 'freeForCommands', follows: 'freeForCommandsText' },
  { kind: 'no-secret', name: 'noSecret', follows: 'noSecretText' },
] as const;

/**
 * Frees a path that was refused as a secret: each choice with what follows from it, and the decisions that hold already. Its
 * buttons do nothing in the first half second, since it appears by itself.
 */
export function FreePath({ path, workspace }: { path: string; workspace: string | undefined }): ReactNode {
  const say = useWords();
  const id = useId();
  const armed = useArmed(path);
  const isAdmin = useStore(health)?.you.role === 'admin';
  const made = decisionsAbout(useStore(pathDecisions), { path, workspace }).filter(
    ({ kind }) => kind !== 'agreed-text',
  );
  const [trouble, setTrouble] = useState<string | null>(null);
  const place = useKeptFocus<HTMLDivElement>(made.map((decision) => decision.id).join());
  if (workspace === undefined) return null;
  const isFree = made.some(({ kind }) => kind === 'no-secret');
  const open = isFree ? [] : CHOICES.filter(({ kind }) => !made.some((decision) => decision.kind === kind));
  const choose = (kind: (typeof CHOICES)[number]['kind']) => {
    setTrouble(null);
    decide(path, kind, workspace).catch((error) => setTrouble(messageOf(error)));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: no fields are in it
    <div
      ref={place}
      tabIndex={-1}
      role="group"
      aria-label={say('decisionsAbout', { path })}
      className="flex flex-col gap-2 rounded-lg border border-line bg-raised px-3 py-2"
    >
      <p className="font-semibold text-sm [overflow-wrap:anywhere]">
        <VisibleText text={isFree ? path : say('keptAsSecret', { path })} />
      </p>
      <div role="status" className="flex flex-col gap-2 empty:hidden">
        {made.map((decision) => (
          <DecisionLine key={decision.id} decision={decision} />
        ))}
      </div>
      {isAdmin &&
        open.map(({ kind, name, follows }) => (
          <div key={kind} className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
            <button
              type="button"
              className="button w-44 shrink-0"
              aria-describedby={`${id}-${kind}`}
              aria-disabled={!armed}
              onClick={() => armed && choose(kind)}
            >
              {say(name)}
            </button>
            <span id={`${id}-${kind}`} className="min-w-48 flex-1">
              {say(follows)}
            </span>
          </div>
        ))}
      {open.length > 0 && <p className="text-soft text-sm">{say(isAdmin ? 'decisionHolds' : 'needsAdminMode')}</p>}
      <Trouble text={trouble} />
    </div>
  );
}
