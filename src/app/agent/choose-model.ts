import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Model } from '../../models/model.ts';
import { type ModelChoice, type ModelKeyChange, type ModelsView, PROVIDERS } from '../../protocol/models.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { originOf, saveModelKey } from '../config/model-keys.ts';
import type { Texts } from '../config/texts.ts';
import {
  baseUrlOf,
  configFor,
  isUnencrypted,
  keyFor,
  modelNameOf,
  openModel,
  type Provider,
  resolveProvider,
} from './open-model.ts';

/** The model of new runs: the configured one until a person chooses another. */
export interface ChosenModel {
  current(): Result<Model>;
  view(): ModelsView;
  /** Opens the chosen model; fails when it cannot be used. */
  open(choice: ModelChoice): Result<{ readonly model: string | null; use(): void }>;
  /** Saves or removes a key in the user's configuration, with immediate effect, also for the model in use. */
  saveKey(change: ModelKeyChange): Promise<Result<void>>;
}

interface OpenedModel {
  readonly provider: Provider | undefined;
  readonly model: Result<Model>;
}

export function createChosenModel(
  { config: given, modelKeys, modelKeysPath }: Pick<LoadedConfig, 'config' | 'modelKeys' | 'modelKeysPath'>,
  env: Texts,
): ChosenModel {
  let keys = modelKeys;
  // Resolved once: saving a key for another provider does not choose that provider.
  let config = resolveProvider(given, env, keys);
  let open = asConfigured;
  let opened = open();

  function asConfigured(): OpenedModel {
    const provider = config.provider === 'auto' ? undefined : config.provider;
    return { provider, model: openModel(config, env, keys) };
  }

  function asChosen({ provider, model, baseUrl }: ModelChoice): OpenedModel {
    if (provider === 'manual') return { provider: undefined, model: MANUAL };
    const named = { ...configFor(config, provider, env, keys), ...(model !== undefined && { model }) };
    if (baseUrl === undefined) return { provider, model: openModel(named, env, keys) };
    // An address named here must not receive the key or the headers that were meant for another.
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
      if (key !== null && isUnencrypted(address)) {
        return fail('INVALID_INPUT', `A key for ${origin} would be sent unencrypted: use https, or a local address.`);
      }
      const saved = await saveModelKey(modelKeysPath, origin, key);
      if (!saved.ok) return saved;
      keys = saved.value;
      config = resolveProvider(config, env, keys);
      opened = open();
      return ok(undefined);
    },
  };
}

const MANUAL = fail('NOT_CONFIGURED', 'Manual mode was chosen: run tools yourself, or choose a model.');
