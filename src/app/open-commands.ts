import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import type { FilePolicy } from '../kernel/file-policy.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import { createDialer } from '../net/dialer.ts';
import { gitConfigs } from '../git/config-reads.ts';
import { gitContents } from '../git/history-contents.ts';
import { scriptFiles } from '../policy/commands/script-files.ts';
import { createProcesses, type Processes } from '../processes/create-processes.ts';
import { createBubblewrap } from '../sandbox/bubblewrap/bubblewrap.ts';
import { createNone } from '../sandbox/none.ts';
import { createSeatbelt } from '../sandbox/seatbelt/seatbelt.ts';
import { ripgrepFolder } from '../workspace/search/ripgrep.ts';

export interface CommandsOptions {
  /** Which files are sensitive. The policy and the workspace are given the same. */
  readonly files: FilePolicy;
  /** Where the sandbox keeps its few files, in no workspace. It is made if it is not there. */
  readonly stateFolder: string;
  /** Of the host: the search path tells which interpreters to show, the home is what must stay hidden. */
  readonly path: string;
  readonly home?: string;
  /** `auto`, which fits this machine, if left out. `none` runs commands unprotected. */
  readonly sandbox?: 'auto' | 'bubblewrap' | 'seatbelt' | 'none';
  /** Hosts that commands may reach which may use the network. */
  readonly hosts?: readonly string[];
  /** Ports of this machine that are ours: commands reach them as little as web_fetch does. */
  ownPorts?(): readonly number[];
}

/** What runs commands: a sandbox, and a world with commands in it. */
export interface OpenCommands {
  /** For `openWorkspace`: search runs in it too. */
  readonly sandbox: Sandbox;
  /** The same world, with a way to run commands in it. */
  addTo: Processes['addTo'];
  /** Ends what runs, also in the background. */
  close(): Promise<void>;
}

/** Chooses, starts nothing: what the machine lacks is said by the first run. Only the user's own word turns it off. */
export async function openCommands(options: CommandsOptions): Promise<OpenCommands> {
  const { files, hosts = [], stateFolder } = options;
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
  const sandbox = await chooseSandbox(options);
  const processes = createProcesses({ sandbox, scriptFiles, gitContents, gitConfigs, files, network: { hosts } });
  return {
    sandbox,
    addTo: processes.addTo,
    async close() {
      await processes.close();
      await sandbox.close();
    },
  };
}

async function chooseSandbox(options: CommandsOptions): Promise<Sandbox> {
  const { files, stateFolder, path, home = homedir(), sandbox: wish = 'auto', ownPorts = () => [] } = options;
  if (wish === 'none') return createNone({ path, home, stateFolder });
  const readOnlyFolders = [await ripgrepFolder()];
  const parts = { filePolicy: files, dialer: createDialer({ ownPorts }), path, home, stateFolder, readOnlyFolders };
  const isSeatbelt = wish === 'seatbelt' || (wish === 'auto' && process.platform === 'darwin');
  return isSeatbelt ? createSeatbelt(parts) : createBubblewrap(parts);
}
