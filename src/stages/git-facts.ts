import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../kernel/world/sandbox.ts';

/** Facts about changed paths that only git knows, as of the workspace before the changes are kept. */
export interface GitFacts {
  /** False where there is no repository at the root, or git could not answer: then nothing is ignored or committed. */
  readonly isKnown: boolean;
  isIgnored(path: string): boolean;
  /** Whether the present content is in no commit: the path, or something in the folder, is untracked or differs from HEAD. */
  isUncommitted(path: string): boolean;
}

const NO_FACTS: GitFacts = { isKnown: false, isIgnored: () => false, isUncommitted: () => false };
const TIME_MS = 15_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Answers about all paths at once, from standard input. Git starts no program that the repository names, as in
 * src/git/status.ts. A mark separates the two lists.
 */
const FACTS_SCRIPT = `
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=none
export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD"
n=0
set_to() { export "GIT_CONFIG_KEY_$n=$1" "GIT_CONFIG_VALUE_$n=$2"; n=$((n + 1)); export GIT_CONFIG_COUNT=$n; }
set_to safe.directory '*'
set_to core.fsmonitor false
set_to core.hooksPath /dev/null
while IFS= read -r -d '' key; do
  case "$key" in *.required) set_to "$key" false ;; *) set_to "$key" '' ;; esac
done < <(git config --null --name-only --get-regexp '^filter\\.')
cat >/tmp/paths
git check-ignore -z --stdin </tmp/paths
[ $? -le 1 ] || exit 3
printf '\\0'
export GIT_LITERAL_PATHSPECS=1
exec xargs -0 -n 500 -a /tmp/paths \\
  git status --porcelain=v1 -z --no-renames --untracked-files=all --ignore-submodules=all --
`;

/** Asks git in the sandbox, where it can write nothing: a repository is untrusted text. */
export async function askGit(workspace: string, sandbox: Sandbox, paths: readonly string[]): Promise<GitFacts> {
  const isRepository = lstatSync(join(workspace, '.git'), { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isRepository || paths.length === 0 || sandbox.kind === 'none') return NO_FACTS;
  const ran = await sandbox.run({
    command: { script: FACTS_SCRIPT },
    stdin: paths.map((path) => `${path}\0`).join(''),
    workspace,
    mounts: 'read',
    tag: 'git-facts',
    limits: { timeMs: TIME_MS, graceMs: 100, keepBytes: MAX_OUTPUT_BYTES, outputBytes: MAX_OUTPUT_BYTES },
  });
  if (!ran.ok) return NO_FACTS;
  const { output, exitCode } = ran.value;
  const text = Buffer.from(output.log.read(0, output.log.keptBytes, 'stdout')).toString('utf8');
  output.log.dispose();
  return exitCode === 0 ? parseFacts(text) : NO_FACTS;
}

/** Ignored paths, each with its NUL, then an empty one, then lines of `git status`. */
function parseFacts(text: string): GitFacts {
  const end = text.startsWith('\0') ? 0 : text.indexOf('\0\0') + 1;
  const ignored = new Set(text.slice(0, end).split('\0'));
  const entries = text.slice(end + 1).split('\0');
  const uncommitted = new Set<string>();
  for (const line of entries) {
    for (let at = line.slice(3); at !== '' && !uncommitted.has(at); at = at.slice(0, Math.max(0, at.lastIndexOf('/'))))
      uncommitted.add(at);
  }
  return {
    isKnown: true,
    isIgnored: (path) => ignored.has(path) || ignored.has(`${path}/`),
    isUncommitted: (path) => uncommitted.has(path),
  };
}
