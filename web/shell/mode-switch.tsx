import { type ReactNode, useState } from 'react';
import type { ModeView } from '../../src/protocol/health.ts';
import { api, messageOf } from '../api/api.ts';
import { Dialog } from '../show/dialog.tsx';
import { Trouble } from '../show/trouble.tsx';
import { health } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';

const WORDS = { plan: 'modePlan', ask: 'modeAsk', auto: 'modeAuto', strict: 'modeStrict' } as const;
const MODES = Object.keys(WORDS) as ModeView[];

/** Selects the policy mode. Switching to `auto` has to be confirmed, since it stops the questions. */
export function ModeSwitch(): ReactNode {
  const say = useWords();
  const state = useStore(health);
  const [wanted, setWanted] = useState<ModeView | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  if (state === null) return null;
  const isAdmin = state.you.role === 'admin';
  const change = async (mode: ModeView) => {
    setWanted(null);
    try {
      const now = await api('switchMode', { body: { mode } });
      health.set((known) => known && { ...known, mode: now.mode });
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <>
      <label className="flex items-center gap-1.5">
        <span className="sr-only text-soft lg:not-sr-only">{say('mode')}</span>
        <select
          className="field w-20 text-ellipsis sm:w-44 lg:w-56"
          value={state.mode}
          disabled={!isAdmin}
          title={isAdmin ? say(WORDS[state.mode]) : say('needsAdminMode')}
          onChange={({ target }) => {
            const mode = target.value as ModeView;
            if (mode === 'auto') setWanted(mode);
            else void change(mode);
          }}
        >
          {MODES.map((mode) => (
            <option key={mode} value={mode}>
              {say(WORDS[mode])}
            </option>
          ))}
        </select>
      </label>
      {wanted !== null && (
        <Dialog title={say('autoTitle')} onClose={() => setWanted(null)}>
          <p className="mb-4">{say('autoText')}</p>
          <div className="flex flex-wrap justify-end gap-2">
            <button type="button" className="button" onClick={() => setWanted(null)}>
              {say('cancel')}
            </button>
            <button type="button" className="button primary" onClick={() => void change(wanted)}>
              {say('switchOver')}
            </button>
          </div>
        </Dialog>
      )}
      {trouble !== null && (
        <Dialog title={say('mode')} onClose={() => setTrouble(null)}>
          <Trouble text={trouble} />
        </Dialog>
      )}
    </>
  );
}
