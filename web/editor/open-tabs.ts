import { askBeforeLeaving } from '../show/ask-before-leaving.ts';
import { createStore } from '../state/store.ts';

export interface OpenTab {
  readonly path: string;
  readonly dirty: boolean;
}

export const tabs = createStore<readonly OpenTab[]>([]);

let last: string | null = null;

/** Returns the file shown now, or last shown when the files screen was open. */
export function lastShown(): string | null {
  return last;
}

export function openTab(path: string): void {
  last = path;
  tabs.set((now) => (now.some((tab) => tab.path === path) ? now : [...now, { path, dirty: false }]));
}

export function closeTab(path: string): void {
  tabs.set((now) => now.filter((tab) => tab.path !== path));
  if (last === path) last = tabs.get().at(-1)?.path ?? null;
}

export function markDirty(path: string, dirty: boolean): void {
  tabs.set((now) => {
    const tab = now.find((one) => one.path === path);
    return tab === undefined || tab.dirty === dirty ? now : now.map((one) => (one === tab ? { path, dirty } : one));
  });
}

export function isDirtyTab(path: string): boolean {
  return tabs.get().some((tab) => tab.path === path && tab.dirty);
}

askBeforeLeaving(() => tabs.get().some(({ dirty }) => dirty));
