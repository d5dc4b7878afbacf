import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Dialer } from '../kernel/world/dialer.ts';
import { createFilePolicy, type FileRule } from '../kernel/file-policy.ts';
import type { RunRequest, RunResult, Sandbox } from '../kernel/world/sandbox.ts';
import { createBubblewrap } from '../sandbox/bubblewrap/bubblewrap.ts';
import type { BubblewrapOptions } from '../sandbox/bubblewrap/bubblewrap-setup.ts';

/** A real bubblewrap sandbox with a home, a workspace and a way to say what ran, all in one temporary folder. */
export interface TrySandbox extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly workspace: string;
  readonly sandbox: Sandbox;
  /** Runs a script in the workspace, live unless told otherwise. Throws when the sandbox refuses. */
  sh(script: string, more?: Partial<RunRequest>): Promise<Ran>;
  write(path: string, content?: string): string;
}

export type Ran = Omit<RunResult, 'output'> & { readonly stdout: string; readonly stderr: string };

export function trySandbox(
  more: Partial<BubblewrapOptions> & { path: string; rules?: readonly FileRule[]; dialer?: Dialer },
): TrySandbox {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'try-sandbox-')));
  const [home, workspace, stateFolder] = ['home', 'ws', 'state'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [home, workspace, stateFolder]) mkdirSync(folder);
  const { rules, ...options } = more;
  const sandbox = createBubblewrap({ home, stateFolder, filePolicy: createFilePolicy(rules), ...options });

  return {
    root,
    home,
    workspace,
    sandbox,
    async sh(script, request = {}) {
      const result = await sandbox.run({ command: { script }, workspace, mounts: 'live', tag: 'try', ...request });
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
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** One whose runs the system counts in control groups, where it can, and one that watches them itself. */
export function withAndWithoutGroups(path: string): Readonly<Record<string, TrySandbox>> {
  return {
    'with control groups where they can be made': trySandbox({ path }),
    'without control groups': trySandbox({ path, cgroups: 'never' }),
  };
}

export function ran(result: RunResult): Ran {
  const { output, ...rest } = result;
  const text = ({ head, tail }: { head: Uint8Array; tail: Uint8Array }) => Buffer.concat([head, tail]).toString();
  output.log.dispose();
  return { ...rest, stdout: text(output.stdout), stderr: text(output.stderr) };
}
