import type { ChangeItem } from '../../kernel/call/approval.ts';
import { toChangeItem } from '../../kernel/call/change-item.ts';
import type { ChangesBlock } from '../../kernel/call/read-selection.ts';
import { diffText } from '../../kernel/text/diff-text.ts';
import { parentOf } from '../../kernel/text/folders-above.ts';
import { groupPaths } from '../../kernel/tool/path-groups.ts';
import type { ClassifiedChange, Stage } from '../../kernel/world/stage.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { textOf } from './staged-text.ts';

const MAX_ITEMS = 500;
/** Of deletions and others that must be shown: beyond it, folders stand for them. */
const MAX_ALWAYS = 2_000;
const MAX_GROUPS = 50;
const MAX_DIFF_CHARACTERS = 60_000;
/** Less room than this is worth no look at another file. */
const LEAST_ROOM = 200;
/** Files that are read for their diff, and of them those whose diff then has no room. */
const MAX_READ = 1_000;
const MAX_MISSES = 20;

/** Most serious first, so that a bound on the list never hides them: these are listed whole. */
const ORDER = ['protected', 'sensitive', 'special', 'repository', 'ordinary', 'packages', 'new', 'ignored'] as const;

/**
 * The changes of a stage as a person reads them: deletions, protected files and those that nobody may keep always, by folder where
 * they are thousands; of the others the first 500. Diffs are added as far as there is room. New files in one folder count as
 * one item.
 */
export async function presentChanges(stage: Stage, kept: readonly ClassifiedChange[]): Promise<ChangesBlock> {
  const folders = newFoldersOf(kept);
  const items = kept.filter((change) => !isBelow(folders, change)).toSorted(bySeverity);
  const always = items.filter(mustBeShown);
  const others = items.filter((change) => !mustBeShown(change));
  const shown = [...always.slice(0, MAX_ALWAYS), ...others.slice(0, Math.max(0, MAX_ITEMS - always.length))];
  let [room, unread, misses] = [MAX_DIFF_CHARACTERS, MAX_READ, 0];
  const presented: ChangeItem[] = [];
  const yielder = createYielder();
  for (const change of shown) {
    const isRead = room >= LEAST_ROOM && misses < MAX_MISSES && unread-- > 0;
    const item = isRead ? await withDiff(stage, change, { folders, room }) : withoutDiff(change, folders);
    room -= item.diff?.length ?? 0;
    if (item.truncated) misses++;
    presented.push(item);
    if (yielder.isDue()) await yielder.pause();
  }
  const left = items.length - shown.length;
  const { title, repository } = stage;
  const all = [...presented, ...groupsOf(always.slice(MAX_ALWAYS))];
  return { kind: 'changes', title, items: all, total: kept.length, truncated: left > 0, repository };
}

/** Items that stand for changes which are too many to be shown one by one: for each kind and class the folders they are in. */
function groupsOf(changes: readonly ClassifiedChange[]): ChangeItem[] {
  const alike = Map.groupBy(changes, ({ kind, class: of, loses }) => `${kind} ${of} ${loses}`);
  return [...alike.values()].flatMap((same) => {
    const [{ kind, class: of, loses } = same[0] as ClassifiedChange] = same;
    const about = { kind, class: of, ...(loses && { loses }) };
    return groupPaths(same, MAX_GROUPS).map(({ path, entries, inside }) => ({
      ...{ path, ...about },
      ...(entries !== undefined && { entries }),
      ...(inside !== undefined && { inside }),
    }));
  });
}

function mustBeShown({ kind, class: of, loses }: ClassifiedChange): boolean {
  return kind === 'deleted' || loses === true || of === 'protected' || of === 'sensitive' || of === 'special';
}

function bySeverity(a: ClassifiedChange, b: ClassifiedChange): number {
  return ORDER.indexOf(a.class) - ORDER.indexOf(b.class) || (a.path < b.path ? -1 : 1);
}

/** New folders whose parent is not new: their entries are told by the number of them. */
interface NewFolders {
  has(path: string): boolean;
  sizeOf(path: string): { readonly entries: number; readonly bytes: number };
}

function newFoldersOf(all: readonly ClassifiedChange[]): NewFolders {
  const folders = new Set(
    all.flatMap(({ path, kind, after }) => (kind === 'created' && after?.type === 'directory' ? [path] : [])),
  );
  const sizes = new Map<string, { entries: number; bytes: number }>();
  for (const { path, kind, after } of all) {
    if (kind !== 'created') continue;
    let top: string | undefined;
    for (let at = parentOf(path); at !== '' && folders.has(at); at = parentOf(at)) top = at;
    if (top === undefined) continue;
    const size = sizes.get(top) ?? { entries: 0, bytes: 0 };
    sizes.set(top, { entries: size.entries + 1, bytes: size.bytes + (after?.size ?? 0) });
  }
  return { has: (path) => folders.has(path), sizeOf: (path) => sizes.get(path) ?? { entries: 0, bytes: 0 } };
}

function isBelow(folders: NewFolders, change: ClassifiedChange): boolean {
  return !mustBeShown(change) && change.kind === 'created' && folders.has(parentOf(change.path));
}

function withoutDiff(change: ClassifiedChange, folders: NewFolders): ChangeItem {
  const item = toItem(change, folders);
  return hasDiff(change) ? { ...item, truncated: true } : item;
}

function toItem(change: ClassifiedChange, folders: NewFolders): ChangeItem {
  const item = toChangeItem(change);
  const isFolder = (change.after ?? change.before)?.type === 'directory';
  return isFolder && change.kind !== 'deleted' ? { ...item, ...folders.sizeOf(change.path) } : item;
}

/** Of a secret nothing is read. */
function hasDiff({ kind, class: of, before, after }: ClassifiedChange): boolean {
  return (after ?? before)?.type === 'file' && kind !== 'mode' && of !== 'sensitive';
}

async function withDiff(
  stage: Stage,
  change: ClassifiedChange,
  { folders, room }: { folders: NewFolders; room: number },
): Promise<ChangeItem> {
  const item = toItem(change, folders);
  if (!hasDiff(change)) return item;
  const [before, after] = [await textOf(stage, change, 'before'), await textOf(stage, change, 'after')];
  if (before === null || after === null) return item;
  const { text, added, removed } = diffText(before, after);
  const { bytes: _, ...about } = item;
  return { ...about, added, removed, ...(text.length <= room ? { diff: text } : { truncated: true as const }) };
}
