import { isGitPath } from '../git/obeyed-paths.ts';
import { OF_THIS_FOLDER, SAFE_GIT } from '../git/safe-script.ts';
import { parentOf } from '../kernel/text/folders-above.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import { createRepositoryFinder, type PathRepository } from './find-repository.ts';
import { gitOutput } from './git-output.ts';

/** Facts about changed paths that only git knows, as of the workspace before the changes are kept. */
export interface GitFacts {
  /** False where git did not answer. */
  isIgnored(path: string): boolean;
  /**
   * Whether the present content is in no commit: the path, or something in the folder, is untracked or differs from HEAD. Also
   * where git did not answer, as for a linked worktree. Null where there is no repository.
   */
  isUncommitted(path: string): boolean | null;
}

/** The answer of one repository, by paths relative to it. */
type RepositoryFacts = Readonly<Record<keyof GitFacts, (path: string) => boolean>>;

const UNANSWERED: RepositoryFacts = { isIgnored: () => false, isUncommitted: () => true };
const MAX_REPOSITORIES = 20;
const TIME_MS = 15_000;

/** For a `.git` that is a file: it may lead to another folder of the workspace, and to no repository above. */
const OF_GIT_FILE = 'export GIT_WORK_TREE="$PWD" GIT_CEILING_DIRECTORIES="$(dirname "$PWD")"';

/** Answers about all paths at once, from standard input. A mark separates the two lists. */
const FACTS_SCRIPT = `
${SAFE_GIT}
cat >/tmp/paths
git check-ignore -z --stdin </tmp/paths
[ $? -le 1 ] || exit 3
printf '\\0'
export GIT_LITERAL_PATHSPECS=1
exec xargs -0 -n 500 -a /tmp/paths \\
  git status --porcelain=v1 -z --no-renames --untracked-files=all --ignore-submodules=all --
`;

/** Asks each repository that has changed paths. */
export async function askGit(workspace: string, sandbox: Sandbox, paths: readonly string[]): Promise<GitFacts> {
  const repositoryOf = createRepositoryFinder(workspace);
  const asked = new Map<string, string[]>();
  const kinds = new Map<string, PathRepository>();
  for (const path of paths) {
    const repository = isGitPath(path) ? null : repositoryOf(path);
    if (repository === null || repository.folder === null) continue;
    const own = asked.get(repository.folder) ?? [];
    own.push(relativeTo(repository.folder, path));
    asked.set(repository.folder, own);
    kinds.set(repository.folder, repository);
  }
  const facts = new Map<string, RepositoryFacts>();
  for (const [folder, own] of [...asked].slice(0, MAX_REPOSITORIES)) {
    const script = `${kinds.get(folder)?.hasOwnData ? OF_THIS_FOLDER : OF_GIT_FILE}${FACTS_SCRIPT}`;
    facts.set(folder, await askRepository({ workspace, folder, script }, sandbox, own));
  }
  const answer = (path: string, which: keyof GitFacts): boolean | null => {
    const repository = repositoryOf(path);
    if (repository === null) return null;
    const { folder } = repository;
    const known = (folder === null ? undefined : facts.get(folder)) ?? UNANSWERED;
    return known[which](relativeTo(folder ?? '', path));
  };
  return {
    isIgnored: (path) => answer(path, 'isIgnored') === true,
    isUncommitted: (path) => answer(path, 'isUncommitted'),
  };
}

async function askRepository(
  { workspace, folder, script }: { workspace: string; folder: string; script: string },
  sandbox: Sandbox,
  paths: readonly string[],
): Promise<RepositoryFacts> {
  const stdin = paths.map((path) => `${path}\0`).join('');
  const cwd = folder === '' ? {} : { cwd: folder };
  const text = await gitOutput(sandbox, { script, stdin, workspace, ...cwd, tag: 'git-facts', timeMs: TIME_MS });
  return text === null ? UNANSWERED : parseFacts(text);
}

/** Ignored paths, each with its NUL, then an empty one, then lines of `git status`. */
function parseFacts(text: string): RepositoryFacts {
  const end = text.startsWith('\0') ? 0 : text.indexOf('\0\0') + 1;
  const ignored = new Set(text.slice(0, end).split('\0'));
  const uncommitted = new Set<string>();
  /** Folders of which git names nothing in them, such as an untracked repository. */
  const whole = new Set<string>();
  for (const line of text.slice(end + 1).split('\0')) {
    const path = line.slice(3).replace(/\/$/, '');
    if (line.endsWith('/')) whole.add(path);
    for (let at = path; at !== '' && !uncommitted.has(at); at = parentOf(at)) uncommitted.add(at);
  }
  const isInWhole = (path: string): boolean => {
    for (let at = parentOf(path); at !== ''; at = parentOf(at)) if (whole.has(at)) return true;
    return false;
  };
  return {
    isIgnored: (path) => ignored.has(path) || ignored.has(`${path}/`),
    isUncommitted: (path) => uncommitted.has(path) || isInWhole(path),
  };
}

function relativeTo(folder: string, path: string): string {
  return folder === '' ? path : path.slice(folder.length + 1);
}
