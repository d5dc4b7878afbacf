import { type ReactNode, useEffect, useState } from 'react';
import type { ModelChoice } from '../../src/protocol/models.ts';
import { api, messageOf } from '../api/api.ts';
import type { Answer } from '../api/operations.ts';
import { Dialog } from '../show/dialog.tsx';
import { Trouble } from '../show/trouble.tsx';
import { health, loadHealth } from '../state/live.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';

type Models = Answer<'listModels'>;
type Provider = ModelChoice['provider'];

const NAMES: Record<Exclude<Provider, 'manual'>, string> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  'openai-chat': 'Ollama, vLLM, …',
};

/** Nobody, or which model. Keys stay in the server's environment: the page learns only whether one is there. */
export function ModelDialog({ onClose }: { onClose: () => void }): ReactNode {
  const say = useWords();
  const [models, setModels] = useState<Models | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  useEffect(() => {
    api('listModels').then(setModels, (error) => setTrouble(messageOf(error)));
  }, []);
  return (
    <Dialog title={say('modelTitle')} onClose={onClose}>
      <Trouble text={trouble} />
      {models !== null && <Choices models={models} onDone={onClose} />}
    </Dialog>
  );
}

function Choices({ models, onDone }: { models: Models; onDone: () => void }): ReactNode {
  const say = useWords();
  const isAdmin = useStore(health)?.you.role === 'admin';
  const [provider, setProvider] = useState<Provider>(models.current?.provider ?? 'manual');
  const [model, setModel] = useState(models.current?.model ?? '');
  const [baseUrl, setBaseUrl] = useState('');
  const [trouble, setTrouble] = useState<string | null>(null);
  const own = provider === 'openai-chat';
  const choose = async () => {
    const named = { ...(model.trim() !== '' && { model: model.trim() }), ...(own && baseUrl !== '' && { baseUrl }) };
    try {
      await api('chooseModel', { body: provider === 'manual' ? { provider } : { provider, ...named } });
      await loadHealth();
      onDone();
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  const pick = (next: Provider) => {
    setProvider(next);
    setModel(models.choices.find((choice) => choice.provider === next)?.model ?? '');
  };
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void choose();
      }}
    >
      <fieldset className="flex flex-col gap-2">
        <legend className="sr-only">{say('modelTitle')}</legend>
        <Choice
          chosen={provider === 'manual'}
          title={say('firstManual')}
          text={say('manualMode')}
          onChoose={() => pick('manual')}
        />
        {models.choices.map(({ provider: each, model: name, ready, missing }) => (
          <Choice
            key={each}
            chosen={provider === each}
            title={NAMES[each]}
            text={ready ? say('modelReady', { model: name ?? '' }) : (missing ?? '')}
            // An endpoint of one's own can be named here; a key cannot.
            disabled={!ready && each !== 'openai-chat'}
            onChoose={() => pick(each)}
          />
        ))}
      </fieldset>
      {own && (
        <label className="text-sm">
          {say('modelAddress')}
          <input
            type="url"
            className="field"
            placeholder="http://localhost:11434/v1"
            value={baseUrl}
            onChange={({ target }) => setBaseUrl(target.value)}
          />
        </label>
      )}
      {provider !== 'manual' && (
        <label className="text-sm">
          {say('modelName')}
          <input className="field" value={model} onChange={({ target }) => setModel(target.value)} />
        </label>
      )}
      <p className="text-soft text-sm">{say(isAdmin ? 'modelKeys' : 'needsAdminMode')}</p>
      <Trouble text={trouble} />
      <button type="submit" className="button primary ml-auto" disabled={!isAdmin}>
        {say('modelUse')}
      </button>
    </form>
  );
}

function Choice({
  chosen,
  title,
  text,
  disabled = false,
  onChoose,
}: {
  chosen: boolean;
  title: string;
  text: string;
  disabled?: boolean;
  onChoose: () => void;
}): ReactNode {
  return (
    <label
      className={`flex gap-3 rounded-lg border p-3 ${chosen ? 'border-accent' : 'border-line'} ${disabled ? 'text-soft' : ''}`}
    >
      <input type="radio" name="provider" className="mt-1.5" checked={chosen} disabled={disabled} onChange={onChoose} />
      <span className="min-w-0">
        <span className="block font-semibold">{title}</span>
        <span className="block text-soft text-sm [overflow-wrap:anywhere]">{text}</span>
      </span>
    </label>
  );
}
