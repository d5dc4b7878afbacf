import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ExecutionContext } from '../kernel/call/execution-context.ts';
import type { Ledger } from '../kernel/call/ledger.ts';
import type { Approver, BlobStore, Logger } from '../kernel/ports.ts';
import { silentLogger } from '../kernel/ports.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { FilePolicy } from '../kernel/world/file-policy.ts';
import type { Sandbox, SandboxKind } from '../kernel/world/sandbox.ts';
import type { SessionStages, Stages } from '../kernel/world/stage.ts';
import type { RemoteServer } from '../mcp/client/remote-server.ts';
import { mayBeToolOf } from '../mcp/client/tool-name.ts';
import { createWeb, withWeb } from '../net/create-web.ts';
import type { ExplainingPolicy } from '../policy/create-policy.ts';
import type { CommandEffects } from '../policy/policy-options.ts';
import { ToolExecutor } from '../runtime/executor.ts';
import { LiveCalls } from '../runtime/order/live-calls.ts';
import { builtInToolsets } from '../runtime/registry/built-in-toolsets.ts';
import { type AnyTool, ToolRegistry } from '../runtime/registry/registry.ts';
import type { SecretHider } from '../secrets/hide-secrets.ts';
import { builtInTools } from '../tools/index.ts';
import { openWorkspace, type Workspace } from '../workspace/open-workspace.ts';
import { hostsOfRules } from './admin/hosts-of-rules.ts';
import { knownTools } from './admin/known-tools.ts';
import { ownPorts } from './admin/server-registry.ts';
import { type LoadedConfig, loadConfig } from './config/load-config.ts';
import type { Config } from './config/settings.ts';
import type { Texts } from './config/texts.ts';
import { filePoliciesOf } from './file-policies.ts';
import { followCancels } from './follow/cancel-call.ts';
import { type FollowedDecisions, followDecisions } from './follow/follow-decisions.ts';
import { type FollowedPolicy, followPolicy } from './follow/follow-policy.ts';
import { followToolStates } from './follow/follow-tool-states.ts';
import type { RemoteTools, RemoteToolsParts } from './mcp/remote-tools.ts';
import { openCommands } from './open-commands.ts';
import { type LogPlace, openLog } from './open-log.ts';
import { openSealedStore, type SealedStore } from './open-sealed-store.ts';
import { makeStateDir } from './state-dir.ts';
import { VERSION } from './version.ts';
import { workspaceId } from './workspace-id.ts';

export interface AppOptions {
  /** The folder to work in. */
  readonly workspace: string;
  readonly env: Texts;
  readonly flags?: Texts;
  readonly home?: string;
  /** A store shared by several workspaces of one process; the code that opened it closes it. */
  readonly store?: SealedStore;
  /** Asks for approval. Left out: a call that needs approval is refused. */
  readonly approver?: Approver | Approver['ask'];
  readonly logger?: Logger;
  /** The destination of the configured log, unless a logger is given. */
  readonly logTo?: LogPlace;
  /** Holds every call while it is under way; the code that passes it follows cancellations itself. */
  readonly live?: LiveCalls;
  /** Further tools beside the built-in ones. */
  readonly tools?: readonly AnyTool[];
  /** The only tool that will be called: only the MCP server that offers it is started. */
  readonly onlyTool?: string;
}

/** Everything that works together on one workspace. */
export interface App {
  readonly loaded: LoadedConfig;
  readonly store: Ledger;
  readonly blobs: BlobStore;
  readonly sandbox: Sandbox;
  readonly workspace: Workspace;
  /** Pending changes of commands. */
  readonly stages: Stages;
  /** Sessions that collect their changes over several calls. */
  readonly sessions: SessionStages;
  readonly policy: ExplainingPolicy;
  /** Hides the secrets of the environment and the user's keys; shared by all apps of one store. */
  readonly hider: SecretHider;
  /** The file policy of tools: what people decided about paths is in it. */
  readonly files: FilePolicy;
  /** The decisions of people about paths of the workspace. */
  readonly decisions: FollowedDecisions;
  readonly rules: Pick<FollowedPolicy, 'propose' | 'reload' | 'mode' | 'switchMode'>;
  readonly registry: ToolRegistry;
  readonly executor: ToolExecutor;
  /** The MCP servers whose tools are offered beside ours. */
  readonly servers: readonly RemoteServer[];
  /** The default context of calls. */
  readonly context: ExecutionContext;
  close(): Promise<void>;
}

/** Reads the configuration once, chooses the parts and connects them. Problems are reported before anything runs. */
export async function openApp(options: AppOptions): Promise<Result<App>> {
  const { env, flags = {}, home = homedir() } = options;
  const root = resolveFolder(options.workspace);
  if (root === undefined) return fail('INVALID_PATH', `${options.workspace} is not a folder: give one that exists.`);
  const loaded = await loadConfig({ env, flags, workspace: root, home });
  if (!loaded.ok) return loaded;
  const { config, stateDir } = loaded.value;
  if (isInside(stateDir, root)) {
    const next = 'choose a folder further down as the workspace, or another stateDir.';
    return fail('INVALID_INPUT', `The workspace ${root} contains Toolwright's own state in ${stateDir}: ${next}`);
  }
  const folder = makeStateDir(stateDir);
  if (!folder.ok) return folder;

  const registry = createRegistry(options.tools);
  const opened = options.store === undefined ? await openSealedStore(loaded.value, env) : ok(options.store);
  if (!opened.ok) return opened;
  const { store, blobs, hider } = opened.value;

  const closing: (() => unknown)[] = options.store === undefined ? [() => store.close()] : [];
  const logger = options.logger ?? (await openLog(loaded.value, hider, options.logTo));
  const log = logger ?? silentLogger;
  const decisions = await followDecisions(store, { root, log });
  closing.push(decisions.stop);
  const places = { workspace: root, registry, decisions };
  const { named, files, commandFiles } = filePoliciesOf(config, places);
  const ports = ownPorts(stateDir, config.port);
  const commands = await openCommands({
    files: named,
    decisions,
    home,
    path: env.PATH ?? '',
    stateDir: join(stateDir, 'sandbox'),
    sandbox: config.sandbox,
    hosts: config.allowedHosts,
    ownPorts: ports,
  });
  const { sandbox } = commands;
  const remote = await remoteTools(config.mcpServers, { registry, stateDir, version: VERSION, log }, options.onlyTool);
  closing.push(() => remote.close());
  const serverNames = Object.keys(config.mcpServers);
  const known = knownTools([registry], (tool) => serverNames.some((server) => mayBeToolOf(server, tool)));
  const web = createWeb({
    allowedHosts: config.allowedHosts,
    privateHosts: [...config.privateHosts, ...hostsOfRules(config.allow)],
    search: loaded.value.search,
    ownPorts: ports,
  });
  const policy = await followPolicy(store, {
    config,
    workspace: workspaceId(root),
    files,
    commandFiles,
    home,
    effects: EFFECTS[sandbox.kind],
    known,
    tools: registry.offered(),
    urls: web.urls,
    hider,
    log,
  });
  if (!policy.ok) return closeAll(closing).then(() => policy);
  const workspace = await openWorkspace({
    root,
    policy: files,
    journal: { folder: join(stateDir, 'journal') },
    sandbox,
    ownFolders: [stateDir],
    decisions,
    logger: log,
    home,
  }).catch(async (thrown) => {
    await closeAll([...closing, () => commands.close(), policy.value.stop]);
    throw thrown;
  });
  closing.push(
    () => workspace.close(),
    () => commands.close(),
    policy.value.stop,
  );
  closing.push(await followToolStates(store, registry, config.disabledTools));
  const live = options.live ?? new LiveCalls();
  if (options.live === undefined) closing.push(followCancels(store, live));
  const executor = new ToolExecutor(registry, {
    policy: policy.value.policy,
    store,
    blobs,
    world: withWeb(commands.addTo(workspace), web),
    ...(options.approver !== undefined && { approver: options.approver }),
    live,
    hider,
    ...(config.approvalTimeout !== null && { approvalTimeout: config.approvalTimeout }),
    ...(config.toolset !== 'full' && { toolset: config.toolset }),
    ...(logger !== undefined && { logger }),
  });
  return ok({
    loaded: loaded.value,
    store,
    blobs,
    sandbox,
    workspace,
    stages: commands.stages,
    sessions: commands.sessions,
    policy: policy.value.policy,
    hider,
    files,
    decisions,
    rules: policy.value,
    registry,
    executor,
    servers: remote.servers,
    context: new ExecutionContext({
      workingDir: root,
      timeout: config.commandTimeout,
      maxOutputSize: config.outputLimit,
    }),
    close: () => closeAll(closing),
  });
}

function createRegistry(tools: AppOptions['tools']): ToolRegistry {
  const registry = new ToolRegistry();
  registry.registerMany(builtInTools, { source: 'built-in' });
  registry.registerMany(tools ?? []);
  for (const toolset of builtInToolsets) registry.addToolset(toolset);
  return registry;
}

/** Where the changes of commands go in each sandbox. */
const EFFECTS: Readonly<Record<SandboxKind, CommandEffects>> = {
  bubblewrap: 'staged',
  seatbelt: 'read-first',
  none: 'live',
};

/** Longer than the timeout of a server. */
const WHOLE_START_MS = 60_000;

/** Loads the MCP client, which is large, only if there is a server. */
async function remoteTools(
  configs: Config['mcpServers'],
  parts: RemoteToolsParts,
  onlyTool: string | undefined,
): Promise<RemoteTools> {
  const isNeeded = (server: string) => onlyTool === undefined || mayBeToolOf(server, onlyTool);
  const needed = Object.entries(configs).filter(([server]) => isNeeded(server));
  if (needed.length === 0) return { servers: [], close: async () => {} };
  const { openRemoteTools } = await import('./mcp/remote-tools.ts');
  const patience = onlyTool === undefined ? {} : { patienceMs: WHOLE_START_MS };
  return openRemoteTools(Object.fromEntries(needed), { ...parts, ...patience });
}

/** Closes in reverse order of opening, each part even if one before it failed. */
async function closeAll(closing: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closing.toReversed()) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

function resolveFolder(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}
