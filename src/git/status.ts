import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { ok, type Result } from '../kernel/result.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import { OF_THIS_FOLDER, SAFE_GIT } from './safe-script.ts';

export type GitState = 'modified' | 'added' | 'deleted' | 'untracked' | 'conflict';

export interface GitStatus {
  /** A folder that is untracked as a whole ends with a slash. */
  readonly files: readonly { readonly path: string; readonly state: GitState }[];
  /** False: there are more files than these. */
  readonly complete: boolean;
}

const MAX_OUTPUT_BYTES = 2 * 1024 * 1024;
const TIME_MS = 15_000;

const STATUS_SCRIPT = `
${OF_THIS_FOLDER}
${SAFE_GIT}
exec git status --porcelain=v1 -z --no-renames --untracked-files=normal --ignore-submodules=all
`;

/**
 * Returns the status of a workspace's files, by running git in the sandbox, where it can write nothing. Null where there is
 * no repository at the root, no git, or no sandbox to run it in: a repository is untrusted text.
 */
export async function gitStatus(root: string, sandbox: Sandbox | undefined): Promise<Result<GitStatus | null>> {
  if (sandbox === undefined || sandbox.kind === 'none' || !hasRepository(root)) return ok(null);
  const ran = await sandbox.run({
    command: { script: STATUS_SCRIPT },
    workspace: root,
    mounts: 'read',
    tag: 'git-status',
    limits: { timeMs: TIME_MS, graceMs: 100, keepBytes: MAX_OUTPUT_BYTES, outputBytes: MAX_OUTPUT_BYTES },
  });
  if (!ran.ok) return ran;
  const { output, exitCode, endedBy } = ran.value;
  const text = Buffer.from(output.log.read(0, output.log.keptBytes, 'stdout')).toString('utf8');
  output.log.dispose();
  if (exitCode !== 0 && endedBy === null) return ok(null);
  return ok({ files: filesOf(text), complete: endedBy === null });
}

/** False for a linked worktree or a submodule: they have a `.git` file, which leads out of the workspace. */
function hasRepository(root: string): boolean {
  return lstatSync(join(root, '.git'), { throwIfNoEntry: false })?.isDirectory() === true;
}

function filesOf(text: string): GitStatus['files'] {
  const whole = text.slice(0, text.lastIndexOf('\0') + 1);
  return whole
    .split('\0')
    .filter((line) => line.length > 3)
    .map((line) => ({ path: line.slice(3), state: stateOf(line.slice(0, 2)) }));
}

function stateOf(code: string): GitState {
  if (code === '??') return 'untracked';
  if (code.includes('U') || code === 'AA' || code === 'DD') return 'conflict';
  if (code.includes('D')) return 'deleted';
  return code.includes('A') ? 'added' : 'modified';
}
