import { realpathSync } from 'node:fs';
import { fail, type Result } from '../kernel/result.ts';
import type { BackgroundProcess, CommandRequest, Commands } from '../kernel/world/commands.ts';
import type { NetworkAccess, Sandbox } from '../kernel/world/sandbox.ts';
import type { SessionStages, StageStore } from '../kernel/world/stage.ts';
import type { Caller, World } from '../kernel/world/workspace.ts';
import { createOutputFilter } from '../secrets/output/hide-in-output.ts';
import { Background } from './background.ts';
import { beginStage, type RunFilter, runCommand, toRunRequest } from './run-command.ts';
import { withSessionStages } from './session-world.ts';

export interface ProcessesOptions {
  readonly sandbox: Sandbox;
  /** Where runs write, and their changes wait. */
  readonly stages: StageStore;
  /** Sessions that collect their changes over several calls. Left out: none does. */
  readonly sessions?: SessionStages;
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

  function commandsFor(caller: Caller, world: World): Commands {
    const { root, wrote = () => false } = world;
    const standsOn = options.sessions?.of(root, caller.session);
    const beginFilter = () => beginRunFilter(world);
    const place = { sandbox, stages, root, wrote, network: options.network, standsOn, beginFilter };
    const elsewhere = (): Result<never> | undefined => (isAt(caller.workingDir, root) ? undefined : refuse(root));
    const scope = `${root}\0${caller.session}`;

    /** A process that writes to a stage sees edits of the host. */
    async function start(given: CommandRequest): Promise<Result<BackgroundProcess>> {
      const { title, writes } = given;
      const filter = await place.beginFilter();
      const request = {
        ...toRunRequest(place, given, caller),
        signal: caller.signal,
        filterOutput: filter.filterOutput,
        onHidden: filter.onHidden,
      };
      if (writes !== 'stage') return background.start(scope, { title, request, stage: null, filter });
      if (standsOn !== undefined) return notWhileCollecting(caller.session);
      const begun = await beginStage(place, caller, { title, allowedBy: null });
      if (!begun.ok) return begun;
      const stage = { ...begun.value.folder, followsHost: true } as const;
      return background.start(scope, { title, request: { ...request, stage }, stage: begun.value, filter });
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
    }),
    close: () => background.close(),
  };
}

async function beginRunFilter(world: World): Promise<RunFilter> {
  const filter = createOutputFilter(await world.secretValues?.());
  return {
    note: filter.note,
    filterOutput: () => filter,
    async onHidden(files) {
      const values = await world.secretValues?.(files);
      if (values !== undefined) filter.learn(values);
    },
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
