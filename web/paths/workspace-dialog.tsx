import type { ReactNode } from 'react';
import { Dialog } from '../show/dialog.tsx';
import { useKeptFocus } from '../show/use-kept-focus.ts';
import { VisibleText } from '../show/visible-text.tsx';
import { health, pathDecisions } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { DecisionLine } from './decision-line.tsx';

/** The settings that hold in each workspace of the server: what people decided about its paths. */
export function WorkspaceDialog({ onClose }: { onClose: () => void }): ReactNode {
  const say = useWords();
  const workspaces = useStore(health)?.workspaces ?? [];
  const made = useStore(pathDecisions);
  const place = useKeptFocus<HTMLDivElement>(made.map(({ id }) => id).join());
  return (
    <Dialog title={say('pathDecisions')} onClose={onClose}>
      <div ref={place} tabIndex={-1} className="flex flex-col gap-4">
        {workspaces.map(({ id, name }) => {
          const theirs = made.filter(({ workspace }) => workspace === id);
          return (
            <section key={id} aria-label={name}>
              <h3 className="mb-1 font-semibold text-sm">{name}</h3>
              {theirs.length === 0 && <p className="text-soft text-sm">{say('noPathDecisions')}</p>}
              <ul className="flex flex-col">
                {theirs.map((decision) => (
                  <li key={decision.id} className="border-line border-t py-1.5">
                    <code className="font-mono text-sm [overflow-wrap:anywhere]">
                      <VisibleText text={decision.path} />
                    </code>
                    <DecisionLine decision={decision} />
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
      </div>
    </Dialog>
  );
}
