import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { uniqueName } from '../../host/files.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { below, TOP, type WalkedPath } from './change-list.ts';
import { createTreeCopy, type TreeCopy } from './copy-tree.ts';
import { createFolderWatches } from './folder-watches.ts';
import { createPathFollower } from './follow-path.ts';
import { createFollowedCopy } from './followed-copy.ts';
import type { HiddenPaths } from './hidden-paths.ts';
import { createHintQueue } from './hint-queue.ts';
import { type OpenFolder, openFolder } from './open-folder.ts';

/**
 * A copy of the workspace that follows edits of the host while a run goes on in it. An event of the system is only a hint where
 * to look. A file comes into the copy only under a name that is not hidden at that moment, so nothing that must be hidden
 * is ever in it.
 */
export interface Mirror extends Disposable {
  readonly copy: TreeCopy;
  /** The identity of each entry that was put there since the run began, by the bytes of its path. */
  readonly placed: ReadonlyMap<string, string>;
  /** Copies everything. False for a workspace that is too large. */
  fill(): Promise<boolean>;
  /**
   * Follows the host from now on. `sinceMs` is a moment after the copy, by the clock of its file system. Resolves when what
   * became hidden while it was filled is hidden; false when that cannot be told.
   */
  begin(sinceMs: number): Promise<boolean>;
  /** Looks at everything once more. Call it when the run has ended. */
  catchUp(): Promise<void>;
  /** For the reader of the result: edits that the run did not see. */
  notes(): readonly string[];
}

export interface MirrorOptions {
  readonly workspace: string;
  /** The folder of the stage, and the copy in it. */
  readonly folder: string;
  readonly content: string;
  readonly hidden: HiddenPaths;
  isOverlaid(path: WalkedPath): boolean;
}

/** With more at once, everything is looked at: the system may have dropped some. */
const MAX_HINTS = 2_000;

export function createMirror({ workspace, folder, content, hidden, isOverlaid }: MirrorOptions): Mirror {
  let [sinceMs, thorough] = [0, false];
  const incomingFolder = join(folder, uniqueName('incoming'));
  mkdirSync(incomingFolder, { mode: 0o700, recursive: true });
  mkdirSync(content, { recursive: true });
  // 'theirs' for the copy too: the run writes there, and could put a symlink where a mode is changed for a moment.
  const open = (path: string): OpenFolder => openFolder(path, 'theirs');
  const [source, target, incoming] = [open(workspace), open(content), open(incomingFolder)];
  const hints = createHintQueue(lookAt);
  const watches = createFolderWatches(hint);
  const copy = createTreeCopy({
    isHidden: hidden.isHidden,
    isOverlaid,
    onFolder: (each, path) => watches.add(each, path),
  });
  const followed = createFollowedCopy({ copy, watches, isOverlaid, sinceMs: () => sinceMs });
  const follower = createPathFollower({
    ...{ workspace, incoming, copy, followed, hidden, watches, isOverlaid },
    isUnsettled: hints.isUnsettled,
    again: hint,
    isThorough: () => thorough,
  });

  function hint(path: WalkedPath): void {
    if (path.isExact) hints.add(path);
  }

  async function lookAt(paths: readonly WalkedPath[]): Promise<boolean> {
    const fresh = await hidden.refresh();
    if (fresh === null) return false;
    if (paths.length > MAX_HINTS) await lookAtAll();
    else for (const path of [...paths, ...fresh.map(walkedPath)]) await follower.attempt(() => followAt(path));
    return true;
  }

  async function followAt(path: WalkedPath): Promise<void> {
    const names = path.bytes.split('/');
    const name = names.pop() ?? '';
    const sides: { source: OpenFolder; target: OpenFolder }[] = [];
    let at = TOP;
    try {
      for (const each of names) {
        at = below(at, each);
        const inner = (sides.at(-1)?.source ?? source).open(each);
        const outer = (sides.at(-1)?.target ?? target).open(each);
        // The folder itself is gone: the event about that comes from the one above.
        if (inner === null || outer === null) return closeAll(inner, outer);
        sides.push({ source: inner, target: outer });
        if (isOverlaid(at)) return;
      }
      const { source: inner, target: outer } = sides.at(-1) ?? { source, target };
      await follower.follow({ source: inner, target: outer, name, path });
    } finally {
      for (const each of sides) closeAll(each.source, each.target);
    }
  }

  async function lookAtAll(): Promise<void> {
    thorough = true;
    await follower.attempt(() => follower.followAll(source, target, TOP));
    thorough = false;
  }

  return {
    copy,
    placed: followed.placed,
    fill: () => copy.copyFolder(source, target, TOP),
    begin(moment) {
      sinceMs = moment;
      return hints.begin();
    },
    async catchUp() {
      await hints.end();
      await hidden.refresh();
      await lookAtAll();
    },
    notes: () => [
      ...(watches.isIncomplete() ? [UNWATCHED] : []),
      ...(follower.leftOut.has('too-much') ? [FULL] : []),
      ...(follower.leftOut.has('failed') ? [FAILED] : []),
    ],
    [Symbol.dispose]() {
      watches[Symbol.dispose]();
      void hints.end().then(() => {
        closeAll(source, target, incoming);
        removeTree(incomingFolder);
      });
    },
  };
}

const UNWATCHED =
  'Not every folder could be watched, so it did not see all edits of the host. An administrator can raise fs.inotify.max_user_watches.';
const FULL =
  'The workspace has grown beyond what a process in the background can follow (20,000 files or 500 MB), so it did not see all new and changed files.';
const FAILED = 'Some edits of the host could not be brought to it: check that the state folder has room.';

function walkedPath(text: string): WalkedPath {
  const bytes = Buffer.from(text).toString('latin1');
  return { text, bytes, isExact: true, depth: text.split('/').length };
}

function closeAll(...folders: (OpenFolder | null)[]): void {
  for (const one of folders) one?.close();
}
