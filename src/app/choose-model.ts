import { fail, ok, type Result } from '../kernel/result.ts';
import type { Model } from '../models/model.ts';
import { type ModelChoice, type ModelsView, PROVIDERS } from '../protocol/models.ts';
import type { Config } from './config/settings.ts';
import type { Texts } from './config/texts.ts';
import { configFor, openModel, type Provider, providerOf } from './open-model.ts';

/** The model of new runs: as configured, until somebody chooses another. */
export interface ChosenModel {
  current(): Result<Model>;
  view(): ModelsView;
  /** What was chosen, ready to be used; fails when it cannot be. */
  open(choice: ModelChoice): Result<{ readonly model: string | null; use(): void }>;
}

export function createChosenModel(config: Config, env: Texts): ChosenModel {
  let provider = providerOf(config, env);
  let current = openModel(config, env);

  return {
    current: () => current,
    view() {
      const inUse = current.ok && provider !== undefined ? { provider, model: current.value.name } : null;
      return {
        current: inUse,
        choices: PROVIDERS.map((each) => choiceOf(each, openModel(configFor(config, each, env), env))),
      };
    },
    open({ provider: wanted, model, baseUrl }) {
      if (wanted === 'manual') {
        const none = fail('NOT_CONFIGURED', 'Manual mode was chosen: run tools yourself, or choose a model.');
        return ok({ model: null, use: () => take(undefined, none) });
      }
      const base = configFor(config, wanted, env);
      const named = { ...base, ...(model !== undefined && { model }) };
      // Whoever names an address must not get the key, or the headers, that were meant for another.
      const opened =
        baseUrl === undefined
          ? openModel(named, env)
          : openModel({ ...named, modelBaseUrl: baseUrl, modelHeaders: [], modelOptions: {} }, {});
      if (!opened.ok) return opened;
      return ok({ model: opened.value.name, use: () => take(wanted, opened) });
    },
  };

  function take(chosen: Provider | undefined, model: Result<Model>): void {
    [provider, current] = [chosen, model];
  }
}

function choiceOf(provider: Provider, opened: Result<Model>): ModelsView['choices'][number] {
  return opened.ok
    ? { provider, model: opened.value.name, ready: true, missing: null }
    : { provider, model: null, ready: false, missing: opened.error.message };
}
