import { hash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { statOf, uniqueName } from '../../host/files.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { foldersAbove } from '../../kernel/text/folders-above.ts';
import { copyLook } from './copy-tree.ts';
import { copyMaskLook, makeMask, maskLookOf } from './mask-file.ts';

/**
 * Makes layers of masks: for each hidden path a file without content that nobody may read under the same name, to lie over the
 * workspace. A hidden folder is masked by a file, too: a folder would be merged with the one below it. The folders above
 * look like the real ones, since the topmost layer says how a folder looks.
 */
export interface MaskLayers {
  /** `hidden` are paths relative to the workspace. The same ones share a layer. */
  layerFor(workspace: string, hidden: readonly string[]): string;
}

export function createMaskLayers(parent: string): MaskLayers {
  /** By the path of each mask. */
  const looks = new Map<string, string>();

  function refresh(path: string, mask: string): void {
    const stat = statOf(path);
    if (stat === undefined || looks.get(mask) === maskLookOf(stat)) return;
    copyMaskLook(mask, stat);
    looks.set(mask, maskLookOf(stat));
  }

  return {
    layerFor(workspace, hidden) {
      const masks = outermost(hidden);
      // The workspace itself first, a folder before those in it.
      const folders = [...new Set(['.', ...masks.flatMap(foldersAbove)])].sort();
      const around = folders.map((path) => lookOf(join(workspace, path)));
      const key = hash('sha256', JSON.stringify([workspace, masks, around]), 'hex').slice(0, 32);
      const layer = join(parent, `masks-${key}`);
      if (!existsSync(layer)) make(layer, { workspace, masks, folders });
      for (const path of masks) refresh(join(workspace, path), join(layer, path));
      for (const path of folders) copyTimes(join(workspace, path), join(layer, path));
      return layer;
    },
  };
}

/** Makes a layer under another name first, so that one with the right name is whole. */
function make(layer: string, given: { workspace: string; masks: readonly string[]; folders: readonly string[] }): void {
  const draft = join(dirname(layer), uniqueName('draft'));
  for (const path of given.folders) mkdirSync(join(draft, path), { recursive: true });
  for (const path of given.masks) makeMask(join(draft, path));
  for (const path of given.folders.toReversed()) {
    const stat = statOf(join(given.workspace, path));
    if (stat !== undefined) copyLook(join(draft, path), stat);
  }
  try {
    renameSync(draft, layer);
  } catch (error) {
    removeTree(draft);
    if (!existsSync(layer)) throw error;
  }
}

/** Without paths below another one of them. */
function outermost(paths: readonly string[]): string[] {
  const all = new Set(paths);
  const isBelow = (path: string): boolean => {
    for (let at = dirname(path); at !== '.'; at = dirname(at)) if (all.has(at)) return true;
    return false;
  };
  return [...all].filter((path) => !isBelow(path)).sort();
}

function lookOf(path: string): readonly number[] {
  const stat = statOf(path);
  return stat === undefined ? [] : [stat.mode, stat.uid, stat.gid];
}

/** Git knows by the time of a folder whether something in it is new. */
function copyTimes(from: string, to: string): void {
  const [real, mask] = [statOf(from), statOf(to)];
  if (real === undefined || mask === undefined || real.mtimeMs === mask.mtimeMs) return;
  utimesSync(to, real.atimeMs / 1000, real.mtimeMs / 1000);
}
