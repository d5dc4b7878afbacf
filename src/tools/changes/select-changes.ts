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
  const unknown = paths?.find((path) => !stage.changes.some((change) => isIn(change.path, path)));
  if (unknown !== undefined) {
    return fail(
      'INVALID_INPUT',
      `${unknown} is not among the pending changes: name a path that is listed, or a folder above.`,
    );
  }
  const named = paths === undefined ? null : new Set(paths.map(repositoryOr));
  const isNamed = (path: string): boolean => named === null || [...named].some((each) => isIn(path, each));
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

function isIn(path: string, folder: string): boolean {
  return folder === '' || folder === '.' || path === folder || path.startsWith(`${folder}/`);
}
