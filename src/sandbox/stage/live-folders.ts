import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { realPath, statOf } from '../../host/files.ts';
import { type FilePolicy, isWalked } from '../../kernel/world/file-policy.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';

/**
 * Folders of the real workspace that a run sees as they are. No mask can be put over a file that does not exist yet, so
 * every folder is watched: when a name that must be hidden appears, `onExposed` is called at once. A run that reads the
 * file within the milliseconds until then has read it.
 */
export interface LiveFolders extends Disposable {
  readonly paths: readonly string[];
  readonly notes: readonly string[];
  isExposed(): boolean;
  /** `end` is called once, at once when it has happened already. */
  onExposed(end: () => void): void;
}

/** The system limits how many one user may watch. */
const MAX_WATCHED = 4_000;

export function watchLiveFolders(given: {
  workspace: string;
  wanted: readonly string[];
  found: readonly ProtectedPath[];
  policy: FilePolicy;
}): LiveFolders {
  const { workspace, policy } = given;
  const watchers: FSWatcher[] = [];
  const notes: string[] = [];
  let exposed = false;
  let end: (() => void) | null = null;

  function expose(): void {
    if (exposed) return;
    exposed = true;
    end?.();
  }

  /** Throws when it cannot be watched. */
  function watchFolder(path: string): void {
    if (watchers.length >= MAX_WATCHED) throw new Error('too many folders');
    const absolute = join(workspace, path);
    const watcher = watch(absolute, { persistent: false }, (event, name) => {
      if (event === 'rename' || name === null) lookAt(path, name);
    });
    watcher.on('error', expose);
    watchers.push(watcher);
    // After the watch began: what comes later is told.
    for (const entry of readdirSync(absolute, { withFileTypes: true })) {
      const full = join(path, entry.name);
      if (policy.judgeEntry(path, entry.name).access === 'hidden') throw new Error('a hidden file');
      if (entry.isDirectory() && isWalked(full)) watchFolder(full);
    }
  }

  function lookAt(folder: string, name: string | null): void {
    const stat = name === null ? undefined : statOf(join(workspace, folder, name));
    if (name === null || (stat !== undefined && policy.judgeEntry(folder, name).access === 'hidden')) expose();
    else if (stat?.isDirectory() === true && isWalked(join(folder, name))) watchLater(join(folder, name));
  }

  function watchLater(path: string): void {
    try {
      watchFolder(path);
    } catch (error) {
      // One that is gone again shows nothing.
      if (errnoOf(error) !== 'ENOENT') expose();
    }
  }

  function whyNotLive(path: string): string | null {
    const absolute = join(workspace, path);
    if (path === '' || realPath(absolute) !== absolute || statOf(absolute)?.isDirectory() !== true) {
      return 'it is no folder of the workspace';
    }
    const hidden = given.found.find((each) => each.access === 'hidden' && `${each.path}/`.startsWith(`${path}/`));
    if (hidden !== undefined) return `${hidden.path} is hidden from it`;
    const before = watchers.length;
    try {
      watchFolder(path);
      return null;
    } catch {
      for (const watcher of watchers.splice(before)) watcher.close();
      return 'it holds more folders than can be watched, or a hidden file';
    }
  }

  const paths = given.wanted.filter((path) => {
    const reason = whyNotLive(path);
    if (reason !== null) notes.push(`Edits in ${path} are not seen while it runs: ${reason}.`);
    return reason === null;
  });

  return {
    paths,
    notes,
    isExposed: () => exposed,
    onExposed(then) {
      end = then;
      if (exposed) then();
    },
    [Symbol.dispose]() {
      for (const watcher of watchers.splice(0)) watcher.close();
    },
  };
}

export const NO_LIVE_FOLDERS: LiveFolders = {
  paths: [],
  notes: [],
  isExposed: () => false,
  onExposed() {},
  [Symbol.dispose]() {},
};
