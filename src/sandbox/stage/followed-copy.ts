import { rmdirSync, type Stats, unlinkSync } from 'node:fs';
import { parentOf } from '../../kernel/text/folders-above.ts';
import { below, type WalkedPath } from './change-list.ts';
import type { TreeCopy } from './copy-tree.ts';
import type { FolderWatches } from './folder-watches.ts';
import type { OpenFolder } from './open-folder.ts';
import { identityOf } from './path-version.ts';

/** Knows of each entry of a copy whether it is as it was put there, or the run has changed or deleted it. */
export interface FollowedCopy {
  /** The identity of what was put there since the run began, by the bytes of its path. */
  readonly placed: ReadonlyMap<string, string>;
  isKnown(path: WalkedPath, name: string): boolean;
  isUntouched(path: WalkedPath, stat: Stats): boolean;
  note(path: WalkedPath, name: string): void;
  /** `now` is the entry in its place, unless it is a folder. */
  notePlaced(path: WalkedPath, now: Stats): void;
  /** Takes away what the host has deleted, but not what the run has changed. False when something is left. */
  remove(entry: CopyEntry): boolean;
}

export interface CopyEntry {
  readonly target: OpenFolder;
  readonly name: string;
  readonly path: WalkedPath;
}

export function createFollowedCopy(options: {
  readonly copy: TreeCopy;
  readonly watches: FolderWatches;
  isOverlaid(path: WalkedPath): boolean;
  /** When the copy was done, by the clock of its file system. */
  sinceMs(): number;
}): FollowedCopy {
  const { copy, watches } = options;
  const placed = new Map<string, string>();

  function remove({ target, name, path }: CopyEntry): boolean {
    const stat = target.stat(name);
    if (stat?.isDirectory()) return removeFolder({ target, name, path });
    if (stat !== undefined && !isUntouched(path, stat)) return false;
    if (stat !== undefined) {
      unlinkSync(target.at(name));
      copy.release(stat);
    }
    forget(path, name);
    return true;
  }

  function removeFolder({ target, name, path }: CopyEntry): boolean {
    if (options.isOverlaid(path) || !isKnown(path, name)) return false;
    const folder = target.open(name);
    try {
      const left = folder?.names().filter((each) => !remove({ target: folder, name: each, path: below(path, each) }));
      if (left === undefined || left.length > 0) return false;
    } finally {
      folder?.close();
    }
    const stat = target.stat(name);
    rmdirSync(target.at(name));
    if (stat !== undefined) copy.release(stat);
    watches.forget(path);
    copy.names.delete(path.bytes);
    forget(path, name);
    return true;
  }

  function isUntouched({ bytes }: WalkedPath, stat: Stats): boolean {
    const identity = placed.get(bytes);
    return identity === undefined ? stat.ctimeMs < options.sinceMs() : identity === identityOf(stat);
  }

  function isKnown(path: WalkedPath, name: string): boolean {
    return copy.names.get(parentOf(path.bytes))?.has(name) === true;
  }

  function forget(path: WalkedPath, name: string): void {
    copy.names.get(parentOf(path.bytes))?.delete(name);
    placed.delete(path.bytes);
  }

  return {
    placed,
    isKnown,
    isUntouched,
    note(path, name) {
      const names = copy.names.get(parentOf(path.bytes)) ?? new Set();
      copy.names.set(parentOf(path.bytes), names.add(name));
    },
    notePlaced({ bytes }, now) {
      placed.set(bytes, identityOf(now));
    },
    remove,
  };
}
