import { homedir } from 'node:os';
import { join } from 'node:path';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { SearchSettings } from '../../net/search/settings.ts';
import type { StorePlace } from '../../storage/open.ts';
import { type Checked, checkText } from './check.ts';
import { checkUserFile, checkWorkspaceFile } from './config-file.ts';
import { hideSecrets } from './hide.ts';
import { type ModelKeys, readModelKeys } from './model-keys.ts';
import { checkSearch } from './search.ts';
import { type Config, type PartialConfig, SETTING_NAMES, SETTINGS, type SettingName } from './settings.ts';
import { checkEnvironment, checkFlags, type Texts } from './texts.ts';

export type Source = 'default' | 'user file' | 'environment' | 'flag' | 'workspace file';

export interface LoadedConfig {
  readonly config: Config;
  /** Who said it, setting by setting: what `doctor` shows. */
  readonly sources: Readonly<Record<SettingName, Source>>;
  readonly stateDir: string;
  /** What `openStore` is given. */
  readonly storePlace: StorePlace;
  /** Which search providers are configured: what `createWeb` is given. */
  readonly search: SearchSettings;
  /** Keys of models that the user keeps, and where. Never to be shown. */
  readonly modelKeys: ModelKeys;
  readonly modelKeysPath: string;
  /** MCP servers that the workspace would like to have. Nothing starts them: the user may add them. */
  readonly proposedServers: Config['mcpServers'];
  /** The mode that the workspace's own file asks for: it may only be tighter than what the user chooses. */
  readonly workspaceMode: Config['mode'] | null;
  /** The rules of the configuration that the workspace's own file added to the user's. */
  readonly workspaceRules: Pick<Config, 'ask' | 'deny'>;
}

export interface ConfigSources {
  env: Texts;
  /** As typed on the command line; a name that is no setting is refused, so the door takes its own flags out first. */
  flags?: Texts;
  /** The workspace's folder; its file may only tighten. */
  workspace?: string;
  home?: string;
}

/**
 * flags > TOOLWRIGHT_* > the user's file > DATABASE_URL > defaults, and then what the workspace's file takes away.
 * INVALID_INPUT lists everything that is wrong, in all sources, at once.
 */
export async function loadConfig({
  env,
  flags = {},
  workspace,
  home = homedir(),
}: ConfigSources): Promise<Result<LoadedConfig>> {
  const userFolder = join(folderOf(env.XDG_CONFIG_HOME, home, '.config'), 'toolwright');
  const user = await checkUserFile(join(userFolder, 'config.json'));
  // A name that nothing may read in a workspace, should this folder be in one.
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
  const problems = found.map(hideSecrets);
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

interface Chosen {
  config: Record<SettingName, unknown>;
  sources: Record<SettingName, Source>;
}

/** Later sources win. */
function choose(layers: readonly (readonly [Source, PartialConfig])[]): Chosen {
  const config = Object.fromEntries(SETTING_NAMES.map((name) => [name, SETTINGS[name].fallback]));
  const sources = Object.fromEntries(SETTING_NAMES.map((name) => [name, 'default']));
  for (const [source, values] of layers) {
    for (const [name, value] of Object.entries(values)) {
      config[name] = value;
      sources[name] = source;
    }
  }
  return { config, sources } as Chosen;
}

function addedTo({ config }: Chosen, values: PartialConfig, name: 'ask' | 'deny'): string[] {
  const users = config[name] as string[];
  return [...new Set(values[name])].filter((rule) => !users.includes(rule));
}

function tighten(path: string, { config, sources }: Chosen, values: PartialConfig): string[] {
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

/** DATABASE_URL is what hosting platforms set, often for another program: it counts only where nobody chose. */
function checkPlatform({ DATABASE_URL: url }: Texts, others: readonly Checked[]): Checked {
  const chosen = others.some(({ values }) => values.databaseUrl !== undefined);
  if (chosen || !url) return { values: {}, problems: [] };
  const { values, problems } = checkText('DATABASE_URL', 'databaseUrl', url);
  const next = 'If it is meant for another program, set TOOLWRIGHT_DATABASE_URL=null.';
  return { values, problems: problems.map((problem) => `${problem}. ${next}`) };
}

/** An XDG folder counts only if it is absolute. */
function folderOf(xdg: string | undefined, home: string, otherwise: string): string {
  return xdg?.startsWith('/') ? xdg : join(home, otherwise);
}
