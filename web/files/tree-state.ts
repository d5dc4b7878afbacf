import { foldersAbove } from '../../src/kernel/text/folders-above.ts';
import { api } from '../api/api.ts';
import type { ApiAnswer } from '../api/operations.ts';
import { fileChanges } from '../state/server-state.ts';
import { createStore } from '../state/store.ts';

type FolderListing = ApiAnswer<'listFiles'>;
export type FileEntry = FolderListing['entries'][number];

/** Listings of the folders opened so far; the rest of the tree is not loaded. */
export const folders = createStore<ReadonlyMap<string, FolderListing>>(new Map());
export const expanded = createStore<ReadonlySet<string>>(new Set(['.']));
/** Files changed by tools since the page was opened. */
export const changedByTools = createStore<ReadonlySet<string>>(new Set());

export async function loadFolder(path: string): Promise<void> {
  try {
    const listing = await api('listFiles', { query: { path, hidden: 'true' } });
    const entries = listing.entries.filter(({ name }) => name !== '.git');
    folders.set((now) => new Map(now).set(path, { ...listing, entries }));
  } catch {
    folders.set((now) => {
      const next = new Map(now);
      next.delete(path);
      return next;
    });
  }
}

export function toggle(path: string): void {
  expanded.set((now) => {
    const next = new Set(now);
    if (!next.delete(path)) next.add(path);
    return next;
  });
  if (expanded.get().has(path)) void loadFolder(path);
}

/** Loads an opened folder again when something in it changed. */
fileChanges.subscribe(() => {
  const changes = fileChanges.get();
  if (changes === null) return;
  const byTools = [...changes.authors].filter(([, by]) => by !== null && by !== 'person').map(([path]) => path);
  changedByTools.set((now) => new Set([...now, ...byTools]));
  const above = new Set([...changes.authors.keys()].flatMap((path) => ['.', ...foldersAbove(path)]));
  for (const path of folders.get().keys()) {
    if (!changes.complete || above.has(path)) void loadFolder(path);
  }
});

export function join(folder: string, name: string): string {
  return folder === '.' ? name : `${folder}/${name}`;
}
