import { type ReactNode, useEffect, useState } from 'react';
import type { ModelChoice } from '../../src/protocol/models.ts';
import { api, messageOf } from '../api/api.ts';
import type { ApiAnswer } from '../api/operations.ts';
import { Dialog } from '../show/dialog.tsx';
import { Trouble } from '../show/trouble.tsx';
import { health, loadHealth } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useServerWords, useWords } from '../words/words.ts';
import { ModelKey } from './model-key.tsx';

type Models = ApiAnswer<'listModels'>;
type Provider = ModelChoice['provider'];

const NAMES: Record<Exclude<Provider, 'manual'>, string> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  'openai-chat': 'Ollama, vLLM, …',
};

/**
 * Selects manual mode or a model. A key entered here goes to the server and never comes back: the page learns only where
 * the server keeps one.
 */
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
      {models !== null && <Choices models={models} onModels={setModels} onDone={onClose} />}
    </Dialog>
  );
}

function Choices({
  models,
  onModels,
  onDone,
}: {
  models: Models;
  onModels: (models: Models) => void;
  onDone: () => void;
}): ReactNode {
  const say = useWords();
  const told = useServerWords();
  const isAdmin = useStore(health)?.you.role === 'admin';
  const [provider, setProvider] = useState<Provider>(models.current?.provider ?? 'manual');
  const [model, setModel] = useState(models.current?.model ?? '');
  const [baseUrl, setBaseUrl] = useState('');
  const [key, setKey] = useState('');
  const [trouble, setTrouble] = useState<string | null>(null);
  const own = provider === 'openai-chat';
  const chosen = models.choices.find((choice) => choice.provider === provider);
  const address = own && baseUrl !== '' ? { baseUrl } : {};
  const attempt = async (work: () => Promise<void>) => {
    try {
      setTrouble(null);
      await work();
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  const saveKey = async (which: Exclude<Provider, 'manual'>, value: string | null) => {
    onModels(await api('saveModelKey', { body: { provider: which, ...address, key: value } }));
    setKey('');
  };
  const choose = () =>
    attempt(async () => {
      if (provider !== 'manual' && key !== '') await saveKey(provider, key.trim());
      const named = { ...(model.trim() !== '' && { model: model.trim() }), ...address };
      await api('chooseModel', { body: provider === 'manual' ? { provider } : { provider, ...named } });
      await loadHealth();
      onDone();
    });
  const pick = (next: Provider) => {
    setProvider(next);
    setKey('');
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
            text={ready ? say('modelReady', { model: name ?? '' }) : told(missing ?? '')}
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
      {provider !== 'manual' && isAdmin && (
        <ModelKey
          from={address.baseUrl === undefined ? (chosen?.keyFrom ?? null) : null}
          value={key}
          onChange={setKey}
          onForget={() => void attempt(() => saveKey(provider, null))}
        />
      )}
      <p className="text-soft text-sm">{say(isAdmin ? 'modelHolds' : 'needsAdminMode')}</p>
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
  onChoose,
}: {
  chosen: boolean;
  title: string;
  text: string;
  onChoose: () => void;
}): ReactNode {
  return (
    <label className={`flex gap-3 rounded-lg border p-3 ${chosen ? 'border-accent' : 'border-line'}`}>
      <input type="radio" name="provider" className="mt-1.5" checked={chosen} onChange={onChoose} />
      <span className="min-w-0">
        <span className="block font-semibold">{title}</span>
        <span className="block text-soft text-sm [overflow-wrap:anywhere]">{text}</span>
      </span>
    </label>
  );
}
