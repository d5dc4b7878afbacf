import { realpathSync } from 'node:fs';
import { configsPrinted } from '../git/config-reads.ts';
import { findGitCredential } from '../git/credentials.ts';
import { historyFoldersPrinted } from '../git/history-contents.ts';
import { fail, type Result } from '../kernel/result.ts';
import type { CommandRequest, Commands } from '../kernel/world/commands.ts';
import type { FilePolicy } from '../kernel/world/file-policy.ts';
import type { NetworkAccess, OutputChunk, RunRequest, RunResult, Sandbox } from '../kernel/world/sandbox.ts';
import type { Caller, World } from '../kernel/world/workspace.ts';
import { CommittedSecrets } from '../secrets/committed-secrets.ts';
import { Background } from './background.ts';
import { FamiliarScripts } from './familiar-scripts.ts';

export interface ProcessesOptions {
  readonly sandbox: Sandbox;
  /** Finds the files whose text a command would run. */
  readonly scriptFiles: Commands['scriptFiles'];
  /** Says which files are sensitive. */
  readonly files: FilePolicy;
  /** The hosts that a command may reach which may use the network. Left out: none. */
  readonly network?: NetworkAccess;
  /** Background processes that run at once: of a session, and of all. */
  readonly mostOfSession?: number;
  readonly mostOfAll?: number;
}

/** Commands and background processes of one Toolwright process, in all workspaces. */
export interface Processes {
  /** Returns the same world, with a way to run commands in it. */
  addTo(world: World): World;
  /** Ends background processes. The sandbox is closed by its owner. */
  close(): Promise<void>;
}

export function createProcesses(options: ProcessesOptions): Processes {
  const background = new Background(options);
  const familiar = new FamiliarScripts();
  const tracked = new CommittedSecrets(options.sandbox, options.files);

  function exposed(root: string, command: string, cwd?: string): Promise<string | undefined> | undefined {
    const folders = historyFoldersPrinted(command, cwd);
    const configs = configsPrinted(command, cwd);
    if (folders.length === 0 && configs.length === 0) return undefined;
    const found = folders.map((folder) => tracked.find(root, folder, NON_INTERACTIVE));
    if (configs.length > 0) found.push(findGitCredential(root, configs));
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
    addTo: (world) => ({ ...world, commands: (caller) => commandsFor(caller, world.root) }),
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

/** Decodes output while it arrives: a character that is split between two chunks is passed on whole. */
function createTextStream(tell: (text: string) => void): { add(chunk: OutputChunk): void; end(): void } {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const say = (text: string) => {
    if (text !== '') tell(text);
  };
  return {
    add: ({ stream, bytes }) => say(decoders[stream].decode(bytes, { stream: true })),
    end() {
      for (const decoder of Object.values(decoders)) say(decoder.decode());
    },
  };
}

/**
 * Variables with which programs open no editor, no pager and no question, since no person sits in front of them. The
 * command's own variables win.
 */
export const NON_INTERACTIVE = {
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
 * Git settings for commands that run without approval because they only read: git takes no folder of the project for a
 * repository by its shape, and starts no program to learn which files have changed.
 */
const READ_ONLY_GIT = {
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
    env: { ...NON_INTERACTIVE, ...(mounts === 'read' && READ_ONLY_GIT), ...env },
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
