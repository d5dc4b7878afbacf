import { realpathSync } from 'node:fs';
import { configsPrinted } from '../git/config-reads.ts';
import { findGitCredential } from '../git/credentials.ts';
import { historyFoldersPrinted } from '../git/history-contents.ts';
import { fail, type Result } from '../kernel/result.ts';
import type { BackgroundProcess, CommandRequest, Commands } from '../kernel/world/commands.ts';
import type { FilePolicy } from '../kernel/world/file-policy.ts';
import type { NetworkAccess, Sandbox } from '../kernel/world/sandbox.ts';
import type { SessionStages, StageStore } from '../kernel/world/stage.ts';
import type { Caller, World } from '../kernel/world/workspace.ts';
import { CommittedSecrets } from '../secrets/committed-secrets.ts';
import { Background } from './background.ts';
import { beginStage, NON_INTERACTIVE, runCommand, toRunRequest } from './run-command.ts';
import { withSessionStages } from './session-world.ts';

export interface ProcessesOptions {
  readonly sandbox: Sandbox;
  /** Where runs write, and their changes wait. */
  readonly stages: StageStore;
  /** Sessions that collect their changes over several calls. Left out: none does. */
  readonly sessions?: SessionStages;
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
  const { sandbox, stages } = options;
  const background = new Background(options);
  const tracked = new CommittedSecrets(sandbox, options.files);

  function exposed(root: string, command: string, cwd?: string): Promise<string | undefined> | undefined {
    const folders = historyFoldersPrinted(command, cwd);
    const configs = configsPrinted(command, cwd);
    if (folders.length === 0 && configs.length === 0) return undefined;
    const found = folders.map((folder) => tracked.find(root, folder, NON_INTERACTIVE));
    if (configs.length > 0) found.push(findGitCredential(root, configs));
    return Promise.all(found).then((each) => each.find((secret) => secret !== undefined));
  }

  function commandsFor(caller: Caller, world: World): Commands {
    const { root, wrote = () => false } = world;
    const standsOn = options.sessions?.of(root, caller.session);
    const place = { sandbox, stages, root, wrote, network: options.network, standsOn };
    const elsewhere = (): Result<never> | undefined => (isAt(caller.workingDir, root) ? undefined : refuse(root));
    const scope = `${root}\0${caller.session}`;

    /** A process that writes to a stage sees edits of the host. */
    async function start(given: CommandRequest): Promise<Result<BackgroundProcess>> {
      const request = { ...toRunRequest(place, given, caller), signal: caller.signal };
      const { title, writes } = given;
      if (writes !== 'stage') return background.start(scope, { title, request, stage: null });
      if (standsOn !== undefined) return notWhileCollecting(caller.session);
      const begun = await beginStage(place, caller, { title, allowedBy: null });
      if (!begun.ok) return begun;
      const stage = { ...begun.value.folder, followsHost: true } as const;
      return background.start(scope, { title, request: { ...request, stage }, stage: begun.value });
    }

    return {
      run: async (given) => elsewhere() ?? runCommand(place, given, caller),
      start: async (given) => elsewhere() ?? start(given),
      list: () => background.list(scope),
      process: (id) => background.find(scope, id),
      output: (id, offset, length) => background.output(scope, id, offset, length),
      input: (id, text, end) => background.input(scope, id, text, end),
      stop: (id) => background.stop(scope, id),
      stageOf: (id) => background.stageOf(scope, id),
    };
  }

  return {
    addTo: (world) => ({
      ...(options.sessions === undefined ? world : withSessionStages(world, options.sessions)),
      commands: (caller) => commandsFor(caller, world),
      stages: () => stages,
      exposedSecret: (command, cwd) => exposed(world.root, command, cwd),
    }),
    close: () => background.close(),
  };
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

/** A copy that follows the host does not stand on the changes of a session, and any other view shows new secrets. */
function notWhileCollecting(session: string): Result<never> {
  const next = 'Run it in the foreground, or end collecting first.';
  return fail('CONFLICT', `${session} collects its changes, and a process in the background cannot see them. ${next}`);
}
