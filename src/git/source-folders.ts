import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../kernel/world/sandbox.ts';

const TIME_MS = 10_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** `git ls-files` reads the index alone and starts no program that the repository names. */
const SCRIPT = `
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
export GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false
export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD"
exec git ls-files -z
`;

/** The folders at the top of a workspace that have files under version control. None without a repository there. */
export async function sourceFolders(root: string, sandbox: Sandbox): Promise<string[]> {
  if (lstatSync(join(root, '.git'), { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const ran = await sandbox.run({
    command: { script: SCRIPT },
    workspace: root,
    mounts: 'read',
    tag: 'source-folders',
    limits: { timeMs: TIME_MS, graceMs: 100, keepBytes: MAX_OUTPUT_BYTES, outputBytes: MAX_OUTPUT_BYTES },
  });
  if (!ran.ok) return [];
  const { output } = ran.value;
  const text = Buffer.from(output.log.read(0, output.log.keptBytes, 'stdout')).toString('utf8');
  output.log.dispose();
  const tops = text.split('\0').flatMap((path) => /^([^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(tops)].filter((name) => isFolder(join(root, name)));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
