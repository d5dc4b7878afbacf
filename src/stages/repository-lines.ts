import { readFileSync } from 'node:fs';
import { SAFE_GIT } from '../git/safe-script.ts';
import { visible } from '../kernel/text/visible.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import type { StagedChange, StageFolder } from '../kernel/world/stage.ts';
import { gitOutput } from './git-output.ts';
import type { StagedView } from './staged-view.ts';

const MAX_REFS = 5;
const MAX_SUBJECTS = 3;
const TIME_MS = 5_000;
const BRANCH = /^\.git\/refs\/(?:heads|tags)\/(.+)$/;
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

interface MovedRef {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * Says in words which branches and tags of the repository at the root a command moved: "main: 1 commit, Fix login". Other
 * changes of git's data are one line with their number.
 */
export async function repositoryLines(
  { workspace, changes, view }: { workspace: string; changes: readonly StagedChange[]; view: StagedView },
  sandbox: Sandbox,
  stage: StageFolder,
): Promise<string[]> {
  const own = changes.filter(({ path }) => path === '.git' || path.startsWith('.git/'));
  if (own.length === 0) return [];
  const moved = own.flatMap(({ path }) => movedRef(workspace, view, path)).slice(0, MAX_REFS);
  const lines: string[] = [];
  for (const ref of moved) lines.push(await describe(ref, { workspace, sandbox, stage }));
  return lines.length > 0 ? lines : [`${own.length} of git's own files`];
}

function movedRef(workspace: string, view: StagedView, path: string): MovedRef[] {
  const name = BRANCH.exec(path)?.[1];
  if (name === undefined || view.stat(path)?.isDirectory()) return [];
  const [before, after] = [commitIn(textBefore(`${workspace}/${path}`)), commitIn(view.read(`${workspace}/${path}`))];
  return before === after ? [] : [{ name, before, after }];
}

async function describe(
  { name, before, after }: MovedRef,
  { workspace, sandbox, stage }: { workspace: string; sandbox: Sandbox; stage: StageFolder },
): Promise<string> {
  if (after === null) return `${visible(name)}: deleted`;
  const subjects = await subjectsOf(before === null ? after : `${before}..${after}`, { workspace, sandbox, stage });
  if (before === null) return `${visible(name)}: new`;
  if (subjects === null || subjects.length === 0) return `${visible(name)}: moved to ${after.slice(0, 12)}`;
  const more = subjects.length > MAX_SUBJECTS ? ', …' : '';
  const counted = `${subjects.length > MAX_SUBJECTS ? `${MAX_SUBJECTS} or more` : subjects.length} commit${subjects.length === 1 ? '' : 's'}`;
  return `${visible(name)}: ${counted}, ${subjects.slice(0, MAX_SUBJECTS).map(visible).join(', ')}${more}`;
}

/** The subjects of commits in a range of ids. Git reads its objects from the stage. Null when it fails. */
async function subjectsOf(
  range: string,
  { workspace, sandbox, stage }: { workspace: string; sandbox: Sandbox; stage: StageFolder },
): Promise<string[] | null> {
  const script = `${SAFE_GIT}exec git log --no-show-signature -z --format=%s -${MAX_SUBJECTS + 1} ${range} --`;
  const text = await gitOutput(sandbox, { script, workspace, stage, tag: 'git-log', timeMs: TIME_MS });
  const subjects = text?.split('\0').filter(Boolean);
  return subjects?.map((line) => line.slice(0, 100)) ?? null;
}

function commitIn(text: string): string | null {
  const commit = text.trim();
  return COMMIT.test(commit) ? commit : null;
}

function textBefore(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
