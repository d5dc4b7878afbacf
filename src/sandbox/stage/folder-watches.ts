import { type FSWatcher, watch } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { below, type WalkedPath } from './change-list.ts';
import type { OpenFolder } from './open-folder.ts';

/** Watches of single folders, each taken on an open folder, so that no other one can be meant. */
export interface FolderWatches extends Disposable {
  /** False when it is watched already; another folder that took its name is watched anew. */
  add(folder: OpenFolder, path: WalkedPath): boolean;
  /** Forgets a folder and all below it. */
  forget(path: WalkedPath): void;
  /** Whether there is a folder that the system does not allow to be watched. */
  isIncomplete(): boolean;
}

/** Creates watches that call `tell` with each path at which something may be different now. */
export function createFolderWatches(tell: (path: WalkedPath) => void): FolderWatches {
  const watched = new Map<string, { readonly inode: number; readonly watcher: FSWatcher }>();
  let incomplete = false;

  function drop(bytes: string): void {
    watched.get(bytes)?.watcher.close();
    watched.delete(bytes);
  }

  return {
    add(folder, path) {
      const inode = folder.stat('.')?.ino ?? 0;
      if (watched.get(path.bytes)?.inode === inode) return false;
      drop(path.bytes);
      try {
        const options = { persistent: false, encoding: 'latin1' } as const;
        const watcher = watch(folder.at('.'), options, (_, name) => tell(name === null ? path : below(path, name)));
        watcher.on('error', () => drop(path.bytes));
        watched.set(path.bytes, { inode, watcher });
      } catch (error) {
        if (errnoOf(error) === undefined) throw error;
        incomplete = true;
      }
      return true;
    },
    forget({ bytes }) {
      for (const each of [...watched.keys()]) if (each === bytes || each.startsWith(`${bytes}/`)) drop(each);
    },
    isIncomplete: () => incomplete,
    [Symbol.dispose]() {
      for (const each of [...watched.keys()]) drop(each);
    },
  };
}
