import { type ReactNode, useState } from 'react';
import type { SessionView } from '../../src/protocol/sessions.ts';
import { api, messageOf } from '../api/api.ts';
import { sessionName } from '../show/format.ts';
import { Trouble } from '../show/trouble.tsx';
import { loadSessions, sessions } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';

/** Switches whether the changes of a session are collected for one decision, and says before where they are kept then. */
export function CollectSwitch({ session }: { session: SessionView }): ReactNode {
  const say = useWords();
  const { id, workspace, collects } = session;
  const parents = useStore(sessions).filter((each) => each.collects && each.id !== id && each.workspace === workspace);
  const [chosen, setChosen] = useState('');
  // A session that collects no longer cannot be chosen any more.
  const onto = parents.some((each) => each.id === chosen) ? chosen : '';
  const [trouble, setTrouble] = useState<string | null>(null);
  // While the server is asked, the box shows the wish.
  const [wish, setWish] = useState<boolean | null>(null);
  const change = async ({ collect }: { collect: boolean }) => {
    setWish(collect);
    setTrouble(null);
    try {
      await api('collectChanges', { at: { id }, body: { collect, ...(collect && onto !== '' && { onto }) } });
    } catch (error) {
      setTrouble(messageOf(error));
    }
    // Also after a failure: another client may have changed what collects.
    await loadSessions().catch((error) => setTrouble(messageOf(error)));
    setWish(null);
  };
  return (
    <>
      <label className="flex items-center gap-1.5 text-sm" title={say('collectHint')}>
        <input
          type="checkbox"
          className="size-4"
          checked={wish ?? collects}
          disabled={wish !== null}
          onChange={({ target }) => void change({ collect: target.checked })}
        />
        {say('collect')}
      </label>
      {!collects && parents.length > 0 && (
        <label className="flex min-w-0 items-center gap-1.5 text-sm" title={say('collectOntoHint')}>
          <span className="shrink-0">{say('collectOnto')}</span>
          <select
            className="field w-44 min-w-0 text-ellipsis"
            value={onto}
            disabled={wish !== null}
            onChange={({ target }) => setChosen(target.value)}
          >
            <option value="">{say('collectOntoWorkspace')}</option>
            {parents.map((each) => (
              <option key={each.id} value={each.id}>
                {sessionName(each, say)}
              </option>
            ))}
          </select>
        </label>
      )}
      {trouble !== null && (
        <div className="w-full">
          <Trouble text={trouble} />
        </div>
      )}
    </>
  );
}
