import { homedir } from 'node:os';
import { makePrivateFolder } from '../host/private-folder.ts';
import type { FilePolicy } from '../kernel/world/file-policy.ts';
import { NO_PATH_DECISIONS, type PathDecisions } from '../kernel/world/path-decisions.ts';
import type { Sandbox, SandboxKind } from '../kernel/world/sandbox.ts';
import type { SessionStages, Stages } from '../kernel/world/stage.ts';
import type { World } from '../kernel/world/workspace.ts';
import { createDialer } from '../net/dialer.ts';
import { createProcesses, type Processes } from '../processes/create-processes.ts';
import { createBubblewrap } from '../sandbox/bubblewrap/bubblewrap.ts';
import { createNone } from '../sandbox/none.ts';
import { createSeatbelt } from '../sandbox/seatbelt/seatbelt.ts';
import { createStages } from '../stages/create-stages.ts';
import { openSessionStages } from '../stages/session-stages.ts';
import { ripgrepFolder } from '../workspace/search/ripgrep.ts';

export interface CommandsOptions {
  /** The sensitive files. The policy and the workspace get the same. */
  readonly files: FilePolicy;
  /** The decisions of people about paths. Left out: none. */
  readonly decisions?: PathDecisions;
  /** Where the sandbox keeps its few files, in no workspace. It is made if it is not there. */
  readonly stateDir: string;
  /** PATH and home of the host: the first tells which interpreters to show, the second must stay hidden. */
  readonly path: string;
  readonly home?: string;
  /** Default `auto`, the one for this machine. `none` runs commands unprotected. */
  readonly sandbox?: 'auto' | SandboxKind;
  /** Hosts for commands that may use the network. */
  readonly hosts?: readonly string[];
  /** Ports of our own servers on this machine: neither commands nor web_fetch reach them. */
  ownPorts?(): readonly number[];
}

/** A sandbox, and a world with commands that run in it. */
export interface OpenCommands {
  /** For `openWorkspace`: search runs in it too. */
  readonly sandbox: Sandbox;
  /** Pending changes of commands. */
  readonly stages: Stages;
  /** Sessions that collect their changes over several calls. */
  readonly sessions: SessionStages;
  /** The same world, with a way to run commands in it. */
  addTo: Processes['addTo'];
  /** Ends all processes, also in the background. */
  close(): Promise<void>;
}

/**
 * Chooses the sandbox and starts nothing: the first run reports what the machine lacks. Only the user can turn it off.
 */
export async function openCommands(options: CommandsOptions): Promise<OpenCommands> {
  const { files, hosts = [], stateDir, home = homedir() } = options;
  makePrivateFolder(stateDir);
  const sandbox = await chooseSandbox(options);
  const sessions = openSessionStages({ sandbox, policy: files, home, stateDir });
  const worlds = new Map<string, World>();
  const keptPaths = (workspace: string, stage: string) => worlds.get(workspace)?.keptPaths?.(stage) ?? [];
  const stages = createStages({ sandbox, policy: files, home, sessions, keptPaths });
  const processes = createProcesses({ sandbox, stages, sessions, network: { hosts } });
  return {
    sandbox,
    stages,
    sessions,
    addTo(world) {
      worlds.set(world.root, world);
      return processes.addTo(world);
    },
    async close() {
      await processes.close();
      sessions.close();
      await sandbox.close();
    },
  };
}

async function chooseSandbox(options: CommandsOptions): Promise<Sandbox> {
  const { files, decisions = NO_PATH_DECISIONS, stateDir, path, home = homedir() } = options;
  const { sandbox: wish = 'auto', ownPorts = () => [] } = options;
  if (wish === 'none') return createNone({ path, home, stateDir });
  const readOnlyFolders = [await ripgrepFolder()];
  const parts = {
    filePolicy: files,
    decisions,
    dialer: createDialer({ ownPorts }),
    path,
    home,
    stateDir,
    readOnlyFolders,
  };
  const isSeatbelt = wish === 'seatbelt' || (wish === 'auto' && process.platform === 'darwin');
  return isSeatbelt ? createSeatbelt(parts) : createBubblewrap(parts);
}
