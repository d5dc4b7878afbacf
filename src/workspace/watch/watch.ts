import { type FSWatcher, readdirSync, type Stats, watch } from 'node:fs';
import { errnoFailure, errnoOf } from '../../host/errno.ts';
import type { Folder } from '../../host/folder.ts';
import { shortPath } from '../../host/parse-path.ts';
import { typeOf } from '../../host/visit-tree.ts';
import { ok, type Result } from '../../kernel/result.ts';
import { createYielder } from '../../kernel/yielding.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import type { ChangeAuthors } from './change-author.ts';
import { tooManyWatches } from './watch-limit.ts';

export interface FileEvent {
  /** Relative to the workspace. */
  readonly path: string;
  readonly type: 'created' | 'changed' | 'deleted';
  readonly isFolder: boolean;
  /** The call that did it; null when it was anybody else. */
  readonly callId: string | null;
}

export interface FileNews {
  /** At most one for a path. A deleted folder stands for all that was in it. */
  readonly events: readonly FileEvent[];
  /** False when there was more than could be followed: look at everything again. */
  readonly complete: boolean;
}

export interface Watch {
  /** Folders that are watched. */
  readonly folders: number;
  close(): void;
}

/** Not watched inside: they are large, and no file that somebody has open. */
const PASSED = new Set(['.git', 'node_modules', '.toolwright']);
const TEMPORARY = /^\.toolwright-[0-9a-f]+\.tmp$/;
const QUIET_MS = 40;
const MAX_WAIT_MS = 250;
const MAX_EVENTS = 2000;

/** A folder that is watched, and what was in it when it was last looked at. */
interface WatchedFolder {
  readonly watcher: FSWatcher;
  readonly inode: number;
  readonly names: Map<string, 'folder' | 'file'>;
}

/**
 * Reports changes below the root by any writer. Each folder has a watch, taken on the folder that the walk opened, so
 * that a swapped symlink does not lead outside. An event of the system is only a hint where to look: each report comes
 * from comparing the folder with what it held before.
 */
export async function watchTree(
  root: WorkspaceRoot,
  authors: ChangeAuthors,
  tell: (news: FileNews) => void,
): Promise<Result<Watch>> {
  const folders = new Map<string, WatchedFolder>();
  const hints = new Map<string, Set<string>>();
  let hinted = 0;
  let firstHint = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const yielder = createYielder();

  function hint(folder: string, name: string): void {
    if (TEMPORARY.test(name)) return;
    hinted++;
    const names = hints.get(folder) ?? new Set();
    hints.set(folder, names.add(name));
    if (timer === undefined) firstHint = performance.now();
    clearTimeout(timer);
    const wait = Math.max(0, Math.min(QUIET_MS, firstHint + MAX_WAIT_MS - performance.now()));
    timer = setTimeout(() => void look(), wait).unref();
  }

  async function look(): Promise<void> {
    timer = undefined;
    const asked = [...hints];
    let complete = hinted <= MAX_EVENTS;
    hints.clear();
    hinted = 0;
    const events: FileEvent[] = [];
    for (const [folder, names] of asked) {
      for (const name of names) {
        try {
          await compare(folder, name, events);
        } catch (thrown) {
          if (errnoOf(thrown) === undefined) throw thrown;
          complete = false;
        }
        if (yielder.isDue()) await yielder.pause();
        if (isClosed) return;
      }
    }
    if (events.length > MAX_EVENTS) tell({ events: [], complete: false });
    else if (events.length > 0 || !complete) tell({ events, complete });
  }

  async function compare(folderPath: string, name: string, events: FileEvent[]): Promise<void> {
    const known = folders.get(folderPath);
    const path = folderPath === '' ? name : `${folderPath}/${name}`;
    if (known === undefined || root.isOwn(path)) return;
    const before = known.names.get(name);
    const stat = statAt(path);
    const note = (type: FileEvent['type'], isFolder: boolean) =>
      events.push({ path, type, isFolder, callId: authors.of(path, stat) });
    if (stat === null) {
      if (before === undefined) return;
      known.names.delete(name);
      forget(path);
      note('deleted', before === 'folder');
    } else if (!stat.isDirectory()) {
      if (before === 'folder') forget(path);
      known.names.set(name, 'file');
      note(before === undefined ? 'created' : 'changed', false);
    } else if (before !== 'folder' || (folders.get(path)?.inode ?? stat.ino) !== stat.ino) {
      forget(path);
      known.names.set(name, 'folder');
      note(before === undefined ? 'created' : 'changed', true);
      if (!PASSED.has(name)) await enter(path, events);
    }
  }

  function statAt(path: string): Stats | null {
    const located = root.locate(path, { last: 'keep' });
    // Names of sensitive files are no secret to a reader of their folder, as with a listing.
    if (!located.ok) return located.error.code === 'PERMISSION_DENIED' ? root.statUnjudged(path) : null;
    located.value.folder.close();
    return located.value.path === path ? located.value.stat : null;
  }

  /** Watches a folder that came, and tells of all that came with it. */
  async function enter(path: string, events: FileEvent[] | null): Promise<void> {
    const located = root.locate(path === '' ? '.' : path, { last: 'keep' });
    if (!located.ok) return;
    const { folder, name } = located.value;
    try {
      const opened = name === '' ? folder : folder.openChild(name);
      try {
        await add(opened, events);
      } finally {
        if (opened !== folder) opened.close();
      }
    } finally {
      folder.close();
    }
  }

  async function add(folder: Folder, events: FileEvent[] | null): Promise<void> {
    const { path } = folder;
    // First the watch, then the look: what comes between them is seen twice, not missed.
    const watcher = watch(folder.at(''), { persistent: false }, (_, name) => {
      if (name !== null) hint(path, name);
    });
    watcher.on('error', () => forget(path));
    const names = new Map<string, 'folder' | 'file'>();
    folders.set(path, { watcher, inode: folder.stat('')?.ino ?? 0, names });
    for (const entry of readdirSync(folder.at(''), { withFileTypes: true })) {
      if (TEMPORARY.test(entry.name)) continue;
      const isFolder = typeOf(entry) === 'directory';
      names.set(entry.name, isFolder ? 'folder' : 'file');
      const below = folder.pathOf(entry.name);
      events?.push({ path: below, type: 'created', isFolder, callId: authors.of(below, null) });
      if (isFolder && !PASSED.has(entry.name) && !root.isOwn(below)) await addChild(folder, entry.name, events);
      if (yielder.isDue()) await yielder.pause();
      if (isClosed) return;
    }
  }

  async function addChild(folder: Folder, name: string, events: FileEvent[] | null): Promise<void> {
    let child: Folder;
    try {
      child = folder.openChild(name);
    } catch (thrown) {
      if (errnoOf(thrown) === undefined) throw thrown;
      return;
    }
    try {
      await add(child, events);
    } catch (thrown) {
      // A folder that may not be read is passed, one that cannot be watched is not.
      if (errnoOf(thrown) !== 'EACCES' && errnoOf(thrown) !== 'ENOENT') throw thrown;
    } finally {
      child.close();
    }
  }

  function forget(path: string): void {
    const known = folders.get(path);
    if (known === undefined) return;
    known.watcher.close();
    folders.delete(path);
    for (const [name, kind] of known.names) if (kind === 'folder') forget(path === '' ? name : `${path}/${name}`);
  }

  function close(): void {
    isClosed = true;
    clearTimeout(timer);
    for (const { watcher } of folders.values()) watcher.close();
    folders.clear();
  }

  try {
    await enter('', null);
  } catch (thrown) {
    const watched = folders.size;
    close();
    const errno = errnoOf(thrown);
    return errno === 'ENOSPC' || errno === 'EMFILE'
      ? tooManyWatches(errno, watched)
      : errnoFailure(thrown, shortPath(root.names.real));
  }
  return ok({
    get folders() {
      return folders.size;
    },
    close,
  });
}
