import { oneLine } from '../text/visible.ts';
import type { ClassifiedChange } from '../world/stage.ts';
import type { KeptChanges } from './kept-changes.ts';
import { groupPaths, type PathGroup } from './path-groups.ts';

const MAX_PATHS = 100;
/** Of those that are told completely: beyond it, folders stand for them. */
const MAX_GROUPS = 500;
/** In a sentence. */
const MAX_NAMED = 10;

export type ChangeSummary = Pick<KeptChanges, 'counts' | 'created' | 'modified' | 'deleted' | 'protected'>;

/** Changes as their outcome lists them: deletions and protected paths completely, of the others the first hundred. */
export function summarizeChanges(changes: readonly ClassifiedChange[]): ChangeSummary {
  const filled = filledFolders(changes);
  const [created, modified] = [[] as string[], [] as string[]];
  const [deleted, guarded] = [[] as PathGroup[], [] as PathGroup[]];
  let repository = 0;
  for (const { path, kind, class: of, loses, entries } of changes) {
    const group = entries === undefined ? { path } : { path, entries };
    if (of === 'protected') guarded.push(group);
    if (of === 'repository') {
      repository++;
      if (kind === 'deleted' && loses) deleted.push(group);
    } else if (kind === 'deleted') deleted.push(group);
    else if (kind !== 'created') modified.push(path);
    else if (!filled.has(path)) created.push(path);
  }
  return {
    counts: { created: created.length, modified: modified.length, deleted: deleted.length, repository },
    created: created.slice(0, MAX_PATHS),
    modified: modified.slice(0, MAX_PATHS),
    deleted: groupPaths(deleted, MAX_GROUPS),
    protected: groupPaths(guarded, MAX_GROUPS),
  };
}

/** A sentence about files that were edited on the host while the command ran; empty where none was. */
export function overtakenNote(changes: readonly ClassifiedChange[]): string {
  const paths = changes.flatMap(({ path, overtaken }) => (overtaken ? [oneLine(path)] : []));
  return paths.length === 0 ? '' : `Changed in the workspace meanwhile: ${nameSome(paths)}.`;
}

export function nameSome(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `${names.slice(0, MAX_NAMED).join(', ')}${more}`;
}

/** New folders with something new in them: they are told by that. */
function filledFolders(changes: readonly ClassifiedChange[]): ReadonlySet<string> {
  const filled = new Set<string>();
  for (const { path, kind } of changes) {
    if (kind !== 'created') continue;
    // The folders above a folder that is in the set are in it, too.
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      if (filled.has(folder)) break;
      filled.add(folder);
    }
  }
  return filled;
}
