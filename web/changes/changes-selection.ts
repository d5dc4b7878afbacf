import type { KeepChanges } from '../../src/protocol/changes.ts';
import type { ChangeItem } from '../../src/protocol/preview.ts';
import { groupOf, hunksOf } from './group-changes.ts';

/** The part of the changes that is ticked. */
export interface ChangesTicks {
  /** Paths of items that are left out. */
  readonly left: ReadonlySet<string>;
  /** Numbers of hunks that are left out, by path. */
  readonly leftHunks: ReadonlyMap<string, ReadonlySet<number>>;
  /** Texts that the person edited, by path. */
  readonly texts: ReadonlyMap<string, string>;
}

export const ALL_TICKED: ChangesTicks = { left: new Set(), leftHunks: new Map(), texts: new Map() };

export function isKept({ left }: ChangesTicks, item: ChangeItem): boolean {
  return groupOf(item) !== 'never' && item.inside === undefined && !left.has(item.path);
}

/** A tick of a file or folder counts for all its hunks. */
export function withItems(ticks: ChangesTicks, items: readonly ChangeItem[], on: 'on' | 'off'): ChangesTicks {
  const left = new Set(ticks.left);
  const leftHunks = new Map(ticks.leftHunks);
  for (const { path } of items) {
    leftHunks.delete(path);
    if (on === 'on') left.delete(path);
    else left.add(path);
  }
  return { ...ticks, left, leftHunks };
}

/** Leaving out the last hunk leaves out the file; the file's own tick brings all hunks back. */
export function withHunk(ticks: ChangesTicks, item: ChangeItem, number: number): ChangesTicks {
  const out = new Set(ticks.leftHunks.get(item.path));
  if (!out.delete(number)) out.add(number);
  const isNone = out.size === hunksOf(item.diff ?? '').length;
  if (isNone) return withItems(ticks, [item], 'off');
  const leftHunks = new Map(ticks.leftHunks).set(item.path, out);
  return { ...withItems(ticks, [item], 'on'), leftHunks };
}

export function withText(ticks: ChangesTicks, path: string, text: string | null): ChangesTicks {
  const texts = new Map(ticks.texts);
  if (text === null) texts.delete(path);
  else texts.set(path, text);
  return { ...ticks, texts };
}

/** Whether something that could be kept is left out or edited. */
export function isPartial(ticks: ChangesTicks, items: readonly ChangeItem[]): boolean {
  const hasLeft = items.some((item) => groupOf(item) !== 'never' && ticks.left.has(item.path));
  return hasLeft || ticks.texts.size > 0 || [...ticks.leftHunks.values()].some(({ size }) => size > 0);
}

/** The ticked part as the server takes it. */
export function toSelection(ticks: ChangesTicks, items: readonly ChangeItem[]): KeepChanges {
  const kept = items.filter((item) => isKept(ticks, item));
  const hunks: Record<string, number[]> = {};
  const texts: Record<string, string> = {};
  for (const { path, diff = '' } of kept) {
    const text = ticks.texts.get(path);
    const out = ticks.leftHunks.get(path);
    if (text !== undefined) texts[path] = text;
    else if (out !== undefined && out.size > 0) {
      hunks[path] = hunksOf(diff).flatMap((_, index) => (out.has(index + 1) ? [] : [index + 1]));
    }
  }
  return {
    paths: kept.map(({ path }) => path),
    ...(Object.keys(hunks).length > 0 && { hunks }),
    ...(Object.keys(texts).length > 0 && { texts }),
  };
}
