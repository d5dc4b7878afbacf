import { fail, ok, type Result } from '../../kernel/result.ts';
import type { ClassifiedChange, Stage } from '../../kernel/world/stage.ts';

/** The part of a stage that is to be kept. */
export interface SelectedChanges {
  readonly kept: readonly ClassifiedChange[];
  /** Left out by the person, or because nobody may keep them. */
  readonly left: readonly ClassifiedChange[];
}

const NEVER_KEPT = new Set(['sensitive', 'special']);
const REPOSITORY = /^((?:.*\/)?\.git)(?:\/|$)/;

/**
 * Selects the changes that `paths` names; a folder stands for everything in it. Changes that nobody may keep are left out,
 * and so is all but ignored files of a run that was stopped. The changes of one repository are kept together or not at
 * all: half a commit is a broken repository.
 */
export function selectChanges(stage: Stage, paths: readonly string[] | undefined): Result<SelectedChanges> {
  const unknown = paths === undefined ? undefined : unknownAmong(paths, stage);
  if (unknown !== undefined) {
    return fail(
      'INVALID_INPUT',
      `${unknown} is not among the pending changes: name a path that is listed, or a folder above.`,
    );
  }
  const named = paths === undefined ? null : new Set(paths.map(repositoryOr));
  const isNamed = (path: string): boolean => named === null || pathAndAbove(path).some((each) => named.has(each));
  const kept = stage.changes.filter((change) => mayBeKept(change, stage) && isNamed(change.path));
  const chosen = new Set(kept);
  return ok({ kept, left: stage.changes.filter((change) => !chosen.has(change)) });
}

function mayBeKept({ class: of }: ClassifiedChange, { isPartial }: Stage): boolean {
  return !NEVER_KEPT.has(of) && (!isPartial || of === 'ignored');
}

/** The repository that a path lies in, or the path itself. */
function repositoryOr(path: string): string {
  return REPOSITORY.exec(path)?.[1] ?? path;
}

/** The first that is neither a changed path nor a folder above one. */
function unknownAmong(paths: readonly string[], { changes }: Stage): string | undefined {
  const wanted = new Set(paths);
  for (const { path } of changes) {
    if (wanted.size === 0) break;
    for (const each of pathAndAbove(path)) wanted.delete(each);
  }
  return paths.find((path) => wanted.has(path));
}

/** The path, the folders above it, and both names of the workspace. */
function pathAndAbove(path: string): string[] {
  const all = [path];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) all.push(path.slice(0, end));
  return [...all, '', '.'];
}
