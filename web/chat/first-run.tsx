import { Bot, Hand, Play } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { api, messageOf } from '../api/api.ts';
import { ModelDialog } from '../shell/model-dialog.tsx';
import { go } from '../shell/route.ts';
import { Trouble } from '../show/trouble.tsx';
import { health, loadSessions } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { composerText } from './drafts.ts';

/** The start page of an empty session: three ways to begin and their requirements. */
export function FirstRun(): ReactNode {
  const say = useWords();
  const state = useStore(health);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [choosing, setChoosing] = useState(false);
  const composer = () => document.querySelector<HTMLTextAreaElement>('#composer');
  const demo = async () => {
    try {
      const { session } = await api('startDemo');
      await loadSessions();
      go('chat', session);
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  const model = state?.model ?? null;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-4">
      <h1 className="mx-auto mt-4 mb-3 max-w-3xl font-semibold text-xl">{say('firstRunTitle')}</h1>
      <div className="mx-auto grid max-w-3xl gap-3 md:grid-cols-3">
        <StartCard
          Icon={Hand}
          title={say('firstManual')}
          text={say('firstManualText')}
          onClick={() => {
            composerText.set('/');
            composer()?.focus();
          }}
        />
        <StartCard Icon={Play} title={say('firstDemo')} text={say('firstDemoText')} onClick={() => void demo()} />
        <StartCard
          Icon={Bot}
          title={say('firstModel')}
          text={model === null ? say('firstModelText') : say('firstModelReady', { model })}
          onClick={() => setChoosing(true)}
        />
      </div>
      <div className="mx-auto mt-3 max-w-3xl">
        <Trouble text={trouble} />
      </div>
      {choosing && (
        <ModelDialog
          onClose={() => {
            setChoosing(false);
            composer()?.focus();
          }}
        />
      )}
    </div>
  );
}

function StartCard({
  Icon,
  title,
  text,
  onClick,
}: {
  Icon: typeof Bot;
  title: string;
  text: string;
  onClick: () => void;
}): ReactNode {
  return (
    <button
      type="button"
      onClick={onClick}
      className="flex flex-col gap-1 rounded-xl border border-line bg-panel p-4 text-left hover:border-accent"
    >
      <Icon size={22} aria-hidden className="text-accent" />
      <span className="font-semibold">{title}</span>
      <span className="text-soft text-sm">{text}</span>
    </button>
  );
}
