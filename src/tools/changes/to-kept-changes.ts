import type { KeptChanges } from '../../kernel/tool/kept-changes.ts';
import type { ClassifiedChange } from '../../kernel/world/stage.ts';
import type { SelectedChanges } from './select-changes.ts';
import { foldersAbove } from './to-changes.ts';

const MAX_PATHS = 100;
const MAX_NAMED = 10;

/** The outcome of changes of which a part was kept; `edited` are files that a person gave another text. */
export function toKeptChanges({ kept, left }: SelectedChanges, edited: readonly string[]): KeptChanges {
  const filled = new Set(kept.flatMap(({ path, kind }) => (kind === 'created' ? foldersAbove(path) : [])));
  const files = kept.filter((change) => change.class !== 'repository' && !isFilled(change, filled));
  const pathsOf = (...kinds: ClassifiedChange['kind'][]): string[] =>
    files.flatMap(({ path, kind }) => (kinds.includes(kind) ? [path] : []));
  const [created, modified, deleted] = [pathsOf('created'), pathsOf('modified', 'mode'), pathsOf('deleted')];
  const repository = kept.filter((change) => change.class === 'repository').length;
  const reasons = [
    ...(left.length === 0 ? [] : [`Not kept: ${named(left.map(withReason))}.`]),
    ...(edited.length === 0 ? [] : [`Kept with changes by a person: ${named(edited)}.`]),
  ];
  return {
    state: kept.length === 0 ? 'discarded' : reasons.length === 0 ? 'kept' : 'partly kept',
    counts: { created: created.length, modified: modified.length, deleted: deleted.length, repository },
    created: created.slice(0, MAX_PATHS),
    modified: modified.slice(0, MAX_PATHS),
    deleted: deleted.slice(0, MAX_PATHS),
    total: kept.length,
    reason: reasons.length === 0 ? null : reasons.join(' '),
  };
}

/** A new folder with something new in it is told by that. */
function isFilled({ path, kind }: ClassifiedChange, filled: ReadonlySet<string>): boolean {
  return kind === 'created' && filled.has(path);
}

/** A loss that a change would bring is no reason why it was not kept. */
function withReason({ path, reason, loses }: ClassifiedChange): string {
  return reason === undefined || loses ? path : `${path} (${reason})`;
}

function named(paths: readonly string[]): string {
  const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : '';
  return `${paths.slice(0, MAX_NAMED).join(', ')}${more}`;
}
