import { api } from '../api/api.ts';
import type { Answer } from '../api/operations.ts';
import { fileChanges } from '../state/server-state.ts';
import { createStore } from '../state/store.ts';

type Listing = Answer<'listFiles'>;
export type Entry = Listing['entries'][number];

/** Folders that were opened, with what is in them; the rest of the tree was never asked for. */
export const folders = createStore<ReadonlyMap<string, Listing>>(new Map());
export const expanded = createStore<ReadonlySet<string>>(new Set(['.']));
/** Files that a tool changed since the page was opened. */
export const touched = createStore<ReadonlySet<string>>(new Set());

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

/** A folder that is shown is listed again when something in it changed. */
fileChanges.subscribe(() => {
  const changes = fileChanges.get();
  if (changes === null) return;
  const byTools = [...changes.by].filter(([, by]) => by !== null && by !== 'person').map(([path]) => path);
  touched.set((now) => new Set([...now, ...byTools]));
  const above = new Set([...changes.by.keys()].flatMap(foldersAbove));
  for (const path of folders.get().keys()) {
    if (!changes.complete || above.has(path)) void loadFolder(path);
  }
});

function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return ['.', ...parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'))];
}

export function join(folder: string, name: string): string {
  return folder === '.' ? name : `${folder}/${name}`;
}
