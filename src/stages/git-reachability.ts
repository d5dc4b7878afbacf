import { dirname, join } from 'node:path';
import { SAFE_GIT } from '../git/safe-script.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import type { StageFolder } from '../kernel/world/stage.ts';
import { gitOutput } from './git-output.ts';

/** The data of one repository. */
export interface RepositoryPlace {
  readonly workspace: string;
  /** Relative to the workspace. */
  readonly data: string;
  readonly sandbox: Sandbox;
}

export interface RepositoryIds {
  /** Commits, or tags of them. */
  readonly tips: ReadonlySet<string>;
  readonly stashes: ReadonlySet<string>;
  readonly objects: ReadonlySet<string>;
}

export interface RepositoryAfter {
  /** Whether there are tips or stashes that nothing leads to any more. */
  readonly losesCommits: boolean;
  /** Objects that are not there any more. */
  readonly missing: ReadonlySet<string>;
}

const TIME_MS = 60_000;

/**
 * Tips are peeled first. A stash that nothing leads to is no loss when all that it changed is in the files again, as after
 * `git stash pop`; of one with untracked files that is not known.
 */
const AFTER_SCRIPT = `
set -o pipefail
${SAFE_GIT}
cat >/tmp/in
for kind in tip stash object; do sed -n "s/^$kind //p" /tmp/in >/tmp/$kind; done
git rev-parse --git-dir >/dev/null || exit 3
is_back() {
  ! git rev-parse -q --verify "$1^3" >/dev/null || return 1
  git diff --name-only -z "$1^1" "$1" | xargs -0 -r -n 500 git --literal-pathspecs diff --quiet "$1" --
}
cat /tmp/tip /tmp/stash | sed 's/$/^{}/' |
  git cat-file --batch-check='%(objectname) %(objecttype)' --buffer >/tmp/peeled || exit 3
! grep -q ' missing$' /tmp/peeled || echo lost
sed -n 's/ commit$//p' /tmp/peeled >/tmp/commits
if [ -s /tmp/commits ]; then
  git rev-list --stdin --not --all --reflog </tmp/commits >/tmp/unreached || exit 3
  grep -Fxf /tmp/commits /tmp/unreached | while read -r id; do
    { grep -qFx "$id" /tmp/stash && is_back "$id"; } || { echo lost; break; }
  done
fi
git cat-file --batch-check --buffer </tmp/object | sed -n 's/ missing$//p'
`;

/** Asks the repository as it would be. Null where git cannot tell. */
export async function askAfter(
  place: RepositoryPlace,
  stage: StageFolder,
  { tips, stashes, objects }: RepositoryIds,
): Promise<RepositoryAfter | null> {
  const kinds = [...linesOf('tip', tips), ...linesOf('stash', stashes), ...linesOf('object', objects)];
  const text = await askGitIn(place, { script: AFTER_SCRIPT, stdin: kinds.join(''), stage });
  if (text === null) return null;
  const missing = new Set(text.split('\n').filter(Boolean));
  return { losesCommits: missing.delete('lost'), missing };
}

/** Fails when it finds one of the ids, as it does when git cannot tell. */
const BEFORE_SCRIPT = `
${SAFE_GIT}
cat >/tmp/ids
git rev-list --objects --no-object-names --all --indexed-objects >/tmp/reachable || exit 3
! grep -qFxf /tmp/ids /tmp/reachable
`;

/** Whether a ref or the index of the repository as it is leads to one of the objects, or git cannot tell. */
export async function areReachable(place: RepositoryPlace, objects: ReadonlySet<string>): Promise<boolean> {
  if (objects.size === 0) return false;
  const stdin = [...objects, ''].join('\n');
  return (await askGitIn(place, { script: BEFORE_SCRIPT, stdin })) === null;
}

function linesOf(kind: string, ids: ReadonlySet<string>): string[] {
  return [...ids].map((id) => `${kind} ${id}\n`);
}

/** Null when git fails. */
function askGitIn(
  { workspace, data, sandbox }: RepositoryPlace,
  given: { readonly script: string; readonly stdin: string; readonly stage?: StageFolder },
): Promise<string | null> {
  // Of a submodule the work tree is not known, and it is needed for stashes alone.
  const tree = data.endsWith('.git') ? dirname(data) : '.';
  const env = { GIT_DIR: join(workspace, data), GIT_WORK_TREE: join(workspace, tree) };
  return gitOutput(sandbox, { ...given, env, workspace, tag: 'git-losses', timeMs: TIME_MS });
}
