import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeTree } from '../host/remove-tree.ts';
import type { Dialer } from '../kernel/world/dialer.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import type { RunRequest, RunResult, Sandbox } from '../kernel/world/sandbox.ts';
import type { FileRule } from '../kernel/world/sensitive-files.ts';
import type { ClassifiedChange } from '../kernel/world/stage.ts';
import { createBubblewrap } from '../sandbox/bubblewrap/bubblewrap.ts';
import type { BubblewrapOptions } from '../sandbox/bubblewrap/bubblewrap-setup.ts';
import { createStages } from '../stages/create-stages.ts';

/** A real bubblewrap sandbox with a home, a workspace and captured output, all in one temporary folder. */
export interface TrySandbox extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly workspace: string;
  readonly sandbox: Sandbox;
  /** Runs a script in the workspace, in a new stage by default. Throws when the sandbox refuses. */
  sh(script: string, more?: Partial<RunRequest>): Promise<SandboxRun>;
  /** Makes the folder of a new stage. */
  stage(): Promise<string>;
  write(path: string, content?: string): string;
}

export type SandboxRun = Omit<RunResult, 'output'> & { readonly stdout: string; readonly stderr: string };

/** Makes a folder where a sandbox wants its stages. */
export async function makeStage(sandbox: Sandbox): Promise<string> {
  const status = await sandbox.status();
  if (!status.ok) throw new Error(status.error.message);
  return mkdtempSync(join(status.value.stages.folder ?? tmpdir(), 'stage-'));
}

export function trySandbox(
  more: Partial<BubblewrapOptions> & { path: string; rules?: readonly FileRule[]; dialer?: Dialer; within?: string },
): TrySandbox {
  const { rules, within = tmpdir(), ...options } = more;
  const root = realpathSync(mkdtempSync(join(within, 'try-sandbox-')));
  const [home, workspace, stateDir] = ['home', 'ws', 'state'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [home, workspace, stateDir]) mkdirSync(folder);
  const sandbox = createBubblewrap({ home, stateDir, filePolicy: createFilePolicy(rules), ...options });

  return {
    root,
    home,
    workspace,
    sandbox,
    stage: () => makeStage(sandbox),
    async sh(script, request = {}) {
      const isStaged = (request.mounts ?? 'staged') === 'staged' && request.stage === undefined;
      const staged = isStaged ? { stage: { folder: await makeStage(sandbox) } } : {};
      const command = { script };
      const result = await sandbox.run({ command, workspace, mounts: 'staged', tag: 'try', ...staged, ...request });
      if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
      return ran(result.value);
    },
    write(path, content = '') {
      const absolute = join(workspace, path);
      mkdirSync(dirname(absolute), { recursive: true });
      writeFileSync(absolute, content);
      return absolute;
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      removeTree(root);
    },
  };
}

/** One sandbox that uses control groups, where possible, and one that watches its processes itself. */
export function withAndWithoutGroups(path: string): Readonly<Record<string, TrySandbox>> {
  return {
    'with control groups where they can be made': trySandbox({ path }),
    'without control groups': trySandbox({ path, cgroups: 'never' }),
  };
}

export function ran(result: RunResult): SandboxRun {
  const { output, ...rest } = result;
  const text = ({ head, tail }: { head: Uint8Array; tail: Uint8Array }) => Buffer.concat([head, tail]).toString();
  output.log.dispose();
  return { ...rest, stdout: text(output.stdout), stderr: text(output.stderr) };
}

/** Runs a script in a stage of the workspace, and returns its changes with their classes. The stage is discarded. */
export async function stagedChanges(
  at: TrySandbox,
  script: string,
  { wrote = (_path: string): boolean => false } = {},
): Promise<ClassifiedChange[]> {
  const stages = createStages({ sandbox: at.sandbox, policy: createFilePolicy(), home: at.home });
  const owner = { workspace: at.workspace, session: 's', callId: 'c', title: 'x', allowedBy: null, wrote };
  const begun = await stages.begin(owner);
  if (!begun.ok) throw new Error(begun.error.message);
  const ran = await at.sh(script, { mounts: 'staged', stage: begun.value.folder });
  if (ran.staged === null) throw new Error('nothing was staged');
  const finished = await begun.value.finish(ran.staged, { isPartial: false });
  if (!finished.ok) throw new Error(finished.error.message);
  const changes = [...(finished.value?.changes ?? [])];
  await finished.value?.discard();
  return changes;
}
