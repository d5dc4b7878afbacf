import { fail, ok, type Result } from '../../kernel/result.ts';
import { anthropicModel } from '../../models/anthropic.ts';
import type { Model } from '../../models/model.ts';
import type { ModelOptions } from '../../models/model-options.ts';
import { openaiChatModel } from '../../models/openai-chat.ts';
import { openaiResponsesModel } from '../../models/openai-responses.ts';
import { type ModelKeys, originOf } from '../config/model-keys.ts';
import type { Config } from '../config/settings.ts';
import type { Texts } from '../config/texts.ts';

export type Provider = Exclude<Config['provider'], 'auto'>;

interface ProviderPreset {
  readonly create: (options: ModelOptions) => Model;
  readonly baseUrl: string | null;
  readonly keyVariable: string;
  readonly model: string | null;
}

const PRESETS: Record<Provider, ProviderPreset> = {
  anthropic: {
    create: anthropicModel,
    baseUrl: 'https://api.anthropic.com',
    keyVariable: 'ANTHROPIC_API_KEY',
    model: 'claude-sonnet-5-5',
  },
  openai: {
    create: openaiResponsesModel,
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    model: 'gpt-5.4',
  },
  'openai-chat': { create: openaiChatModel, baseUrl: null, keyVariable: 'OPENAI_API_KEY', model: null },
};

/** Opens the configured model without a network request. NOT_CONFIGURED says what is missing. */
export function openModel(given: Config, env: Texts, keys: ModelKeys = {}): Result<Model> {
  const config = resolveProvider(given, env, keys);
  const { provider } = config;
  if (provider === 'auto') {
    const next = 'Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or modelBaseUrl and model for one of your own.';
    return fail('NOT_CONFIGURED', `No model is configured. ${next}`);
  }
  const preset = PRESETS[provider];
  const [baseUrl, model] = [baseUrlOf(config, provider), modelNameOf(config, provider)];
  if (baseUrl === null) return missing(provider, 'modelBaseUrl', 'http://localhost:11434/v1');
  if (model === null) return missing(provider, 'model', 'qwen3-coder');
  const key = keyFor(config, provider, env, keys)?.value;
  if (key === undefined && baseUrl === preset.baseUrl) {
    const next = `set ${variableFor(config, provider)}, or keep one in credentials.json`;
    return fail('NOT_CONFIGURED', `${new URL(baseUrl).host} needs a key: ${next}.`);
  }
  if (key !== undefined && isUnencrypted(baseUrl)) {
    const next = 'use https, or a local address';
    return fail('NOT_CONFIGURED', `The key would be sent unencrypted to ${originOf(baseUrl)}: ${next}.`);
  }
  const { modelMaxTokens: maxTokens, modelWindow: window, modelOptions: extra, modelPrice: price } = config;
  const headers = Object.fromEntries(config.modelHeaders.map((line) => splitOnce(line)));
  const more = { ...(key !== undefined && { key }), ...(price !== null && { price: withoutUndefined(price) }) };
  return ok(preset.create({ model, baseUrl, headers, maxTokens, window, extra, ...more }));
}

/** Returns the configuration as if the user had chosen this provider, without the settings for another one. */
export function configFor(config: Config, provider: Provider, env: Texts, keys: ModelKeys = {}): Config {
  const own = resolveProvider(config, env, keys);
  if (own.provider === provider) return own;
  const others = { model: null, modelBaseUrl: null, modelKeyVariable: null, modelPrice: null } as const;
  return { ...config, ...others, provider, modelHeaders: [], modelOptions: {} };
}

/**
 * Resolves the provider `auto` from the address and keys. A key of the environment belongs to the rest of the
 * configuration; a saved key may have been added for any provider, so the configured headers are dropped with it.
 */
export function resolveProvider(config: Config, env: Texts, keys: ModelKeys): Config {
  if (config.provider !== 'auto') return config;
  if (config.modelBaseUrl !== null) return { ...config, provider: 'openai-chat' };
  const ofEnvironment = GUESSED.find((each) => keyFor(config, each, env, {}) !== undefined);
  if (ofEnvironment !== undefined) return { ...config, provider: ofEnvironment };
  // The first key in the file: one that is saved later changes nothing, now or at the next start.
  const holderOf = (origin: string) => GUESSED.find((each) => originOf(PRESETS[each].baseUrl ?? '') === origin);
  const ofKept = Object.keys(keys)
    .map(holderOf)
    .find((each) => each !== undefined);
  return { ...config, provider: ofKept ?? 'auto', modelHeaders: [] };
}

const GUESSED = ['anthropic', 'openai'] as const;

export interface ModelKey {
  readonly value: string;
  readonly from: 'environment' | 'configuration';
}

/** Returns the key of the environment, or the one that the user saved for exactly this address. */
export function keyFor(config: Config, provider: Provider, env: Texts, keys: ModelKeys): ModelKey | undefined {
  const set = env[variableFor(config, provider)];
  if (set) return { value: set, from: 'environment' };
  const kept = keys[originOf(baseUrlOf(config, provider) ?? '') ?? ''];
  return kept === undefined ? undefined : { value: kept, from: 'configuration' };
}

export function baseUrlOf(config: Config, provider: Provider): string | null {
  return config.modelBaseUrl ?? PRESETS[provider].baseUrl;
}

export function modelNameOf(config: Config, provider: Provider): string | null {
  return config.model ?? PRESETS[provider].model;
}

function variableFor(config: Config, provider: Provider): string {
  return config.modelKeyVariable ?? PRESETS[provider].keyVariable;
}

function missing(provider: Provider, setting: string, example: string): Result<never> {
  return fail('NOT_CONFIGURED', `The provider ${provider} needs ${setting}, such as ${example}.`);
}

export function isUnencrypted(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function splitOnce(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

/** Drops fields that Zod leaves undefined. */
function withoutUndefined(price: NonNullable<Config['modelPrice']>): NonNullable<Model['price']> {
  return JSON.parse(JSON.stringify(price));
}
