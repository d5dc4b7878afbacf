import type { ChangeItem } from '../../kernel/call/approval.ts';
import { toChangeItem } from '../../kernel/call/change-item.ts';
import type { ChangesBlock } from '../../kernel/call/read-selection.ts';
import { diffText } from '../../kernel/text/diff-text.ts';
import type { ClassifiedChange, Stage } from '../../kernel/world/stage.ts';
import { textOf } from './staged-text.ts';

const MAX_ITEMS = 500;
const MAX_DIFF_CHARACTERS = 60_000;

/** Most serious first, so that a bound on the list never hides them: these are listed whole. */
const ORDER = ['protected', 'sensitive', 'special', 'repository', 'ordinary', 'packages', 'new', 'ignored'] as const;

/**
 * The changes of a stage as a person reads them: deletions, protected files and those that nobody may keep always, of the
 * others the first 500, with diffs as far as there is room. New files in one folder count as one item.
 */
export async function presentChanges(stage: Stage, kept: readonly ClassifiedChange[]): Promise<ChangesBlock> {
  const folders = newFoldersOf(kept);
  const items = kept.filter((change) => !isBelow(folders, change)).toSorted(bySeverity);
  const always = items.filter(mustBeShown);
  const others = items.filter((change) => !mustBeShown(change));
  const shown = [...always, ...others.slice(0, Math.max(0, MAX_ITEMS - always.length))];
  let room = MAX_DIFF_CHARACTERS;
  const presented: ChangeItem[] = [];
  for (const change of shown) {
    const item = await toItem(stage, change, { folders, room });
    room -= item.diff?.length ?? 0;
    presented.push(item);
  }
  const left = items.length - shown.length;
  const { title, repository } = stage;
  return { kind: 'changes', title, items: presented, total: kept.length, truncated: left > 0, repository };
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

async function toItem(
  stage: Stage,
  change: ClassifiedChange,
  { folders, room }: { folders: NewFolders; room: number },
): Promise<ChangeItem> {
  const item = toChangeItem(change);
  const type = (change.after ?? change.before)?.type;
  if (type === 'directory' && change.kind !== 'deleted') return { ...item, ...folders.sizeOf(change.path) };
  if (type !== 'file' || change.kind === 'mode') return item;
  const [before, after] = [await textOf(stage, change, 'before'), await textOf(stage, change, 'after')];
  if (before === null || after === null) return item;
  const { text, added, removed } = diffText(before, after);
  const { bytes: _, ...about } = item;
  return { ...about, added, removed, ...(text.length <= room ? { diff: text } : { truncated: true as const }) };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
