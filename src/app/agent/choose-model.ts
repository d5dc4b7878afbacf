import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Model } from '../../models/model.ts';
import { type ModelChoice, type ModelKeyChange, type ModelsView, PROVIDERS } from '../../protocol/models.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { originOf, saveModelKey } from '../config/model-keys.ts';
import type { Texts } from '../config/texts.ts';
import {
  baseUrlOf,
  configFor,
  isReadableOnTheWay,
  keyFor,
  modelNameOf,
  openModel,
  type Provider,
  settled,
} from './open-model.ts';

/** The model of new runs: as configured, until somebody chooses another. */
export interface ChosenModel {
  current(): Result<Model>;
  view(): ModelsView;
  /** What was chosen, ready to be used; fails when it cannot be. */
  open(choice: ModelChoice): Result<{ readonly model: string | null; use(): void }>;
  /** Keeps a key in the user's configuration, or forgets it; it counts at once, also for the model in use. */
  saveKey(change: ModelKeyChange): Promise<Result<void>>;
}

interface Opened {
  readonly provider: Provider | undefined;
  readonly model: Result<Model>;
}

export function createChosenModel(
  { config: given, modelKeys, modelKeysPath }: Pick<LoadedConfig, 'config' | 'modelKeys' | 'modelKeysPath'>,
  env: Texts,
): ChosenModel {
  let keys = modelKeys;
  // Settled once: a key that is saved for another provider is no word that it should be used.
  let config = settled(given, env, keys);
  let open = asConfigured;
  let opened = open();

  function asConfigured(): Opened {
    const provider = config.provider === 'auto' ? undefined : config.provider;
    return { provider, model: openModel(config, env, keys) };
  }

  function asChosen({ provider, model, baseUrl }: ModelChoice): Opened {
    if (provider === 'manual') return { provider: undefined, model: MANUAL };
    const named = { ...configFor(config, provider, env, keys), ...(model !== undefined && { model }) };
    if (baseUrl === undefined) return { provider, model: openModel(named, env, keys) };
    // Whoever names an address must not get the key, or the headers, that were meant for another.
    const elsewhere = { ...named, modelBaseUrl: baseUrl, modelHeaders: [], modelOptions: {} };
    return { provider, model: openModel(elsewhere, {}, keys) };
  }

  function choiceOf(provider: Provider): ModelsView['choices'][number] {
    const its = configFor(config, provider, env, keys);
    const keyFrom = keyFor(its, provider, env, keys)?.from ?? null;
    const opened = openModel(its, env, keys);
    const missing = opened.ok ? null : opened.error.message;
    return { provider, model: modelNameOf(its, provider), ready: opened.ok, keyFrom, missing };
  }

  return {
    current: () => opened.model,
    view() {
      const { provider, model } = opened;
      const current = model.ok && provider !== undefined ? { provider, model: model.value.name } : null;
      return { current, choices: PROVIDERS.map(choiceOf) };
    },
    open(choice) {
      const wanted = asChosen(choice);
      if (!wanted.model.ok && choice.provider !== 'manual') return wanted.model;
      const use = () => {
        open = () => asChosen(choice);
        opened = wanted;
      };
      return ok({ model: wanted.model.ok ? wanted.model.value.name : null, use });
    },
    async saveKey({ provider, baseUrl, key }) {
      const address = baseUrl ?? baseUrlOf(configFor(config, provider, env, keys), provider) ?? '';
      const origin = originOf(address);
      if (origin === undefined) return fail('INVALID_INPUT', 'Say which address the key is for: baseUrl.');
      if (key !== null && isReadableOnTheWay(address)) {
        return fail(
          'INVALID_INPUT',
          `A key for ${origin} would be readable on its way: use https, or a local address.`,
        );
      }
      const saved = await saveModelKey(modelKeysPath, origin, key);
      if (!saved.ok) return saved;
      keys = saved.value;
      config = settled(config, env, keys);
      opened = open();
      return ok(undefined);
    },
  };
}

const MANUAL = fail('NOT_CONFIGURED', 'Manual mode was chosen: run tools yourself, or choose a model.');
