import type { ChangeItem } from '../../src/protocol/preview.ts';
import type { Words } from '../words/en.ts';

/** Groups in the order in which a person reads them: the most serious first. */
const GROUPS = ['protected', 'repository', 'changed', 'deleted', 'new', 'packages', 'ignored', 'never'] as const;
export type ChangeGroupName = (typeof GROUPS)[number];

export const GROUP_WORDS = {
  protected: 'changesProtected',
  repository: 'changesRepository',
  changed: 'changesChanged',
  deleted: 'changesDeleted',
  new: 'changesNew',
  packages: 'changesPackages',
  ignored: 'changesIgnored',
  never: 'changesNever',
} as const satisfies Record<ChangeGroupName, keyof Words>;

export interface ChangeGroup {
  readonly name: ChangeGroupName;
  /** A folder with several changed files in it, or null for a file that stands alone. */
  readonly folders: readonly { readonly folder: string | null; readonly items: readonly ChangeItem[] }[];
}

export function groupChanges(items: readonly ChangeItem[]): ChangeGroup[] {
  return GROUPS.flatMap((name) => {
    const own = items.filter((item) => groupOf(item) === name);
    return own.length === 0 ? [] : [{ name, folders: byFolder(own) }];
  });
}

export function groupOf({ kind, class: of, loses }: ChangeItem): ChangeGroupName {
  if (of === 'sensitive' || of === 'special') return 'never';
  if (of === 'protected' || loses) return 'protected';
  if (of === 'repository' || of === 'packages' || of === 'ignored') return of;
  if (kind === 'deleted') return 'deleted';
  return kind === 'created' ? 'new' : 'changed';
}

function byFolder(items: readonly ChangeItem[]): ChangeGroup['folders'] {
  const folders = new Map<string, ChangeItem[]>();
  for (const item of items) {
    const folder = item.path.slice(0, Math.max(0, item.path.lastIndexOf('/')));
    folders.set(folder, [...(folders.get(folder) ?? []), item]);
  }
  return [...folders].map(([folder, own]) => ({ folder: folder === '' || own.length < 2 ? null : folder, items: own }));
}

/** The hunks of a unified diff, each with its header; a partial answer names them by their number from 1. */
export function hunksOf(diff: string): string[] {
  return diff
    .split(/^(?=@@ )/m)
    .filter((part) => part.startsWith('@@ '))
    .map((part) => part.replace(/\n$/, ''));
}
