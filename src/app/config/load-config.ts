import { homedir } from 'node:os';
import { join } from 'node:path';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { SearchSettings } from '../../net/search/settings.ts';
import { hideInMessage, showValue } from '../../secrets/hide-in-messages.ts';
import type { StorePlace } from '../../storage/open.ts';
import { type CheckedSettings, checkText } from './check.ts';
import { checkUserFile, checkWorkspaceFile } from './config-file.ts';
import { type ModelKeys, readModelKeys } from './model-keys.ts';
import { type Config, type PartialConfig, SETTING_NAMES, SETTINGS, type SettingName } from './settings.ts';
import { checkEnvironment, checkFlags, type Texts } from './texts.ts';

export type SettingSource = 'default' | 'user file' | 'environment' | 'flag' | 'workspace file';

export interface LoadedConfig {
  readonly config: Config;
  /** The source of each setting, which `doctor` shows. */
  readonly sources: Readonly<Record<SettingName, SettingSource>>;
  readonly stateDir: string;
  /** The argument of `openStore`. */
  readonly storePlace: StorePlace;
  /** The configured search providers, for `createWeb`. */
  readonly search: SearchSettings;
  /** The saved model keys and their file. Never show them. */
  readonly modelKeys: ModelKeys;
  readonly modelKeysPath: string;
  /** MCP servers that the workspace proposes. They are not started; the user may add them. */
  readonly proposedServers: Config['mcpServers'];
  /** The mode of the workspace file, which may only be tighter than the user's. */
  readonly workspaceMode: Config['mode'] | null;
  /** The rules that the workspace file added to the user's. */
  readonly workspaceRules: Pick<Config, 'ask' | 'deny'>;
}

export interface ConfigSources {
  env: Texts;
  /** Flags as typed. An unknown name is refused, so the caller removes its own flags first. */
  flags?: Texts;
  /** The root of the workspace; its file may only tighten. */
  workspace?: string;
  home?: string;
}

/**
 * Merges flags > TOOLWRIGHT_* > the user's file > DATABASE_URL > defaults, then tightens them by the workspace file.
 * INVALID_INPUT lists the problems of all sources at once.
 */
export async function loadConfig({
  env,
  flags = {},
  workspace,
  home = homedir(),
}: ConfigSources): Promise<Result<LoadedConfig>> {
  const userFolder = join(folderOf(env.XDG_CONFIG_HOME, home, '.config'), 'toolwright');
  const user = await checkUserFile(join(userFolder, 'config.json'));
  // A sensitive file name, which tools may not read if this directory is inside a workspace.
  const modelKeysPath = join(userFolder, 'credentials.json');
  const kept = await readModelKeys(modelKeysPath);
  const environment = checkEnvironment(env);
  const flag = checkFlags(flags);
  const platform = checkPlatform(env, [user, environment, flag]);
  const chosen = choose([
    ['environment', platform.values],
    ['user file', user.values],
    ['environment', environment.values],
    ['flag', flag.values],
  ]);
  const search = checkSearch(env);
  const found = [platform, user, kept, environment, flag, search].flatMap((source) => source.problems);
  let proposedServers: Config['mcpServers'] = {};
  let workspaceMode: Config['mode'] | null = null;
  let workspaceRules: LoadedConfig['workspaceRules'] = { ask: [], deny: [] };
  if (workspace !== undefined) {
    const path = join(workspace, '.toolwright', 'config.json');
    const file = await checkWorkspaceFile(path);
    proposedServers = file.values.mcpServers ?? {};
    workspaceMode = file.values.mode ?? null;
    workspaceRules = { ask: addedTo(chosen, file.values, 'ask'), deny: addedTo(chosen, file.values, 'deny') };
    found.push(...file.problems, ...tighten(path, chosen, file.values));
  }
  const problems = found.map(hideInMessage);
  if (problems.length > 0) return fail('INVALID_INPUT', problems.join('\n'), { problems });
  const config = chosen.config as Config;
  const stateDir = config.stateDir ?? join(folderOf(env.XDG_STATE_HOME, home, '.local/state'), 'toolwright');
  const { databaseUrl } = config;
  const storePlace = databaseUrl === null ? { directory: stateDir } : { databaseUrl };
  return ok({
    config,
    sources: chosen.sources,
    stateDir,
    storePlace,
    modelKeys: kept.keys,
    modelKeysPath,
    proposedServers,
    workspaceMode,
    workspaceRules,
    search: search.settings,
  });
}

interface ChosenSettings {
  config: Record<SettingName, unknown>;
  sources: Record<SettingName, SettingSource>;
}

/** Later sources win. */
function choose(layers: readonly (readonly [SettingSource, PartialConfig])[]): ChosenSettings {
  const config = Object.fromEntries(SETTING_NAMES.map((name) => [name, SETTINGS[name].fallback]));
  const sources = Object.fromEntries(SETTING_NAMES.map((name) => [name, 'default']));
  for (const [source, values] of layers) {
    for (const [name, value] of Object.entries(values)) {
      config[name] = value;
      sources[name] = source;
    }
  }
  return { config, sources } as ChosenSettings;
}

function addedTo({ config }: ChosenSettings, values: PartialConfig, name: 'ask' | 'deny'): string[] {
  const users = config[name] as string[];
  return [...new Set(values[name])].filter((rule) => !users.includes(rule));
}

function tighten(path: string, { config, sources }: ChosenSettings, values: PartialConfig): string[] {
  const problems: string[] = [];
  for (const [name, value] of Object.entries(values) as [SettingName, unknown][]) {
    const rule = SETTINGS[name].tighten as (
      users: unknown,
      workspaces: unknown,
    ) => { value: unknown } | { refused: string };
    const made = rule(config[name], value);
    if ('refused' in made)
      problems.push(`${path}: a workspace can only tighten, and ${name} would not be: ${made.refused}.`);
    else if (made.value !== config[name]) {
      config[name] = made.value;
      sources[name] = 'workspace file';
    }
  }
  return problems;
}

/**
 * DATABASE_URL is often set by hosting platforms for another program, so it counts only without a choice of the user.
 */
function checkPlatform({ DATABASE_URL: url }: Texts, others: readonly CheckedSettings[]): CheckedSettings {
  const chosen = others.some(({ values }) => values.databaseUrl !== undefined);
  if (chosen || !url) return { values: {}, problems: [] };
  const { values, problems } = checkText('DATABASE_URL', 'databaseUrl', url);
  const next = 'If it is meant for another program, set TOOLWRIGHT_DATABASE_URL=null.';
  return { values, problems: problems.map((problem) => `${problem}. ${next}`) };
}

/** Uses an XDG directory only if it is absolute. */
function folderOf(xdg: string | undefined, home: string, otherwise: string): string {
  return xdg?.startsWith('/') ? xdg : join(home, otherwise);
}

/**
 * Reads the keys of search providers under the names of their own documentation, from the environment alone: a file
 * with a key is soon committed to a repository. An empty variable counts as unset.
 */
function checkSearch(env: Texts): { settings: SearchSettings; problems: string[] } {
  const { BRAVE_API_KEY: brave, TAVILY_API_KEY: tavily, EXA_API_KEY: exa, SEARXNG_URL: searxng } = env;
  const isUrl = searxng !== undefined && /^https?:\/\//.test(searxng) && URL.canParse(searxng);
  const problems =
    !searxng || isUrl
      ? []
      : [
          `SEARXNG_URL cannot be ${showValue(searxng)}: it is the address of an instance, such as https://search.example.org.`,
        ];
  return {
    problems,
    settings: {
      ...(brave && { brave: { key: brave } }),
      ...(tavily && { tavily: { key: tavily } }),
      ...(exa && { exa: { key: exa } }),
      ...(isUrl && { searxng: { url: searxng } }),
    },
  };
}
