import { realpathSync } from 'node:fs';
import type { CommandRequest, Commands } from '../kernel/world/commands.ts';
import type { FilePolicy } from '../kernel/file-policy.ts';
import { fail, type Result } from '../kernel/result.ts';
import type { NetworkAccess, RunRequest, RunResult, Sandbox } from '../kernel/world/sandbox.ts';
import type { Caller, World } from '../kernel/world/workspace.ts';
import { Background } from './background.ts';
import { Familiar } from './familiar-scripts.ts';
import { withCredential } from './git-credential.ts';
import { createTextStream } from './text-stream.ts';
import { TrackedSecrets } from '../secrets/committed-secrets.ts';

export interface ProcessesOptions {
  readonly sandbox: Sandbox;
  /** Which files' text a command would run. */
  readonly scriptFiles: Commands['scriptFiles'];
  /** The folders in which a command may print what files of a repository held. */
  readonly gitContents: (command: string, cwd?: string) => readonly string[];
  /** The configurations of git that a command may print. */
  readonly gitConfigs: (command: string, cwd?: string) => readonly string[];
  /** Which files are sensitive. */
  readonly files: FilePolicy;
  /** What a command may reach that may use the network. Left out: nothing. */
  readonly network?: NetworkAccess;
  /** Background processes that run at once: of a session, and of all. */
  readonly mostOfSession?: number;
  readonly mostOfAll?: number;
}

/** Commands and background processes of one process of ours, whatever the workspace. */
export interface Processes {
  /** The same world, with a way to run commands in it. */
  addTo(world: World): World;
  /** Ends what runs in the background. The sandbox is closed by whoever opened it. */
  close(): Promise<void>;
}

export function createProcesses(options: ProcessesOptions): Processes {
  const background = new Background(options);
  const familiar = new Familiar();
  const tracked = new TrackedSecrets(options.sandbox, options.files);

  function exposed(root: string, command: string, cwd?: string): Promise<string | undefined> | undefined {
    const folders = options.gitContents(command, cwd);
    const configs = options.gitConfigs(command, cwd);
    if (folders.length === 0 && configs.length === 0) return undefined;
    const found = folders.map((folder) => tracked.find(root, folder, NOBODY_THERE));
    if (configs.length > 0) found.push(withCredential(root, configs));
    return Promise.all(found).then((each) => each.find((secret) => secret !== undefined));
  }

  function commandsFor(caller: Caller, root: string): Commands {
    const request = (given: CommandRequest) => toRunRequest(given, caller, root, options.network);
    const elsewhere = (): Result<never> | undefined => (isAt(caller.workingDir, root) ? undefined : refuse(root));
    const scope = `${root}\0${caller.session}`;
    return {
      run: async (given) => elsewhere() ?? run(options.sandbox, request(given), caller, given),
      start: async (given) =>
        elsewhere() ?? background.start(scope, given.title, { ...request(given), signal: caller.signal }),
      list: () => background.list(scope),
      process: (id) => background.find(scope, id),
      output: (id, offset, length) => background.output(scope, id, offset, length),
      input: (id, text, end) => background.input(scope, id, text, end),
      stop: (id) => background.stop(scope, id),
      scriptFiles: options.scriptFiles,
      exposedSecret: (command, cwd) => exposed(root, command, cwd),
      isFamiliar: (path, text) => familiar.has(scope, `${path}\0${text}`),
      remember: (path, text) => familiar.add(scope, `${path}\0${text}`),
    };
  }

  return {
    addTo: (world) => ({
      root: world.root,
      open: (caller) => ({ ...world.open(caller), commands: commandsFor(caller, world.root) }),
    }),
    close: () => background.close(),
  };
}

async function run(
  sandbox: Sandbox,
  request: RunRequest,
  { signal }: Caller,
  { onOutput }: CommandRequest,
): Promise<Result<RunResult>> {
  const stream = onOutput === undefined ? undefined : createTextStream(onOutput);
  const ended = await sandbox.run({
    ...request,
    signal,
    changes: 'report',
    ...(stream && { onOutput: (chunk) => stream.add(chunk) }),
  });
  stream?.end();
  return ended;
}

/**
 * Programs that would open an editor, a pager or a question do without, since nobody sits in front of them. The
 * command's own variables win.
 */
export const NOBODY_THERE = {
  CI: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  EDITOR: 'true',
  NO_COLOR: '1',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_NO_INPUT: '1',
  NPM_CONFIG_FUND: 'false',
  NPM_CONFIG_UPDATE_NOTIFIER: 'false',
  PYTHONUNBUFFERED: '1',
  PYTHONDONTWRITEBYTECODE: '1',
};

/**
 * For what runs unasked because it only reads: no folder of the project is taken for a repository by what it holds, and
 * git asks no program which files have changed.
 */
const ONLY_READING = {
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'safe.bareRepository',
  GIT_CONFIG_VALUE_0: 'explicit',
  GIT_CONFIG_KEY_1: 'core.fsmonitor',
  GIT_CONFIG_VALUE_1: 'false',
};

function toRunRequest(
  { command, cwd, env, timeoutMs, mounts, network }: CommandRequest,
  { callId }: Caller,
  root: string,
  allowed: NetworkAccess | undefined,
): RunRequest {
  const reach = reachOf(network, allowed);
  return {
    command,
    workspace: root,
    mounts,
    env: { ...NOBODY_THERE, ...(mounts === 'read' && ONLY_READING), ...env },
    limits: { timeMs: timeoutMs },
    tag: callId,
    ...(cwd !== undefined && { cwd }),
    ...(reach && { network: reach }),
  };
}

function reachOf(wish: CommandRequest['network'], allowed: NetworkAccess | undefined): NetworkAccess | undefined {
  if (wish === undefined) return undefined;
  if (wish === 'allowed') return allowed !== undefined && allowed.hosts.length > 0 ? allowed : undefined;
  return { ...allowed, hosts: wish };
}

function isAt(workingDir: string, root: string): boolean {
  if (workingDir === root) return true;
  try {
    return realpathSync(workingDir) === root;
  } catch {
    return false;
  }
}

function refuse(root: string): Result<never> {
  return fail('NOT_CONFIGURED', `Commands run in the workspace ${root} only: set workingDir to it.`);
}
