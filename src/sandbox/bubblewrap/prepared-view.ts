import { removeTree } from '../../host/remove-tree.ts';
import { fail, type Result } from '../../kernel/result.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { OpenedView } from '../stage/list-changes.ts';
import type { Mirror } from '../stage/mirror.ts';
import { type FolderOwner, type OpenFolder, openFolder } from '../stage/open-folder.ts';
import type { OverlayLayers, OverlayProgram } from '../stage/overlay.ts';
import type { WorkspaceView } from './bubblewrap-process.ts';
import type { RuntimeFolder } from './runtime-folder.ts';
import { pathInside } from './wait-for-mounts.ts';

/** The workspace as one run sees it. Whoever prepared it disposes of it. */
export interface PreparedView extends WorkspaceView, Disposable {
  /** Arguments for bubblewrap: the mount of the workspace and those on it. */
  readonly mounts: readonly string[];
  /** Brings edits of the host to the run; null for one that does not follow them. */
  readonly mirror: Mirror | null;
  /** The stage as the run saw it, and the view that it stands on; null before all was mounted, and for a whole copy. */
  opened(): OpenedView | null;
}

export interface ViewOptions {
  readonly folder: RuntimeFolder;
  readonly workspace: string;
  /** Paths over which masks lie. */
  readonly hidden: readonly ProtectedPath[];
  /** Null where no overlay can be mounted. */
  readonly program: OverlayProgram | null;
}

/** A folder under the name of the workspace, without an overlay. */
export function plainView(mounts: readonly string[]): PreparedView {
  return {
    overlay: null,
    writable: null,
    onMounted() {},
    mounts,
    mirror: null,
    opened: () => null,
    [Symbol.dispose]() {},
  };
}

/** A view under overlays. Folders that it opened, and files of the mounts, are gone with it. */
export function viewUnderOverlays(given: {
  readonly overlay: NonNullable<WorkspaceView['overlay']>;
  readonly layers: readonly OverlayLayers[];
  readonly mounts: readonly string[];
  readonly writable: WorkspaceView['writable'];
  /** Called when all is mounted; `open` opens a folder as a process sees it. */
  openIn(firstPid: number, open: (pid: number, path: string, owner: FolderOwner) => OpenFolder): OpenedView;
}): PreparedView {
  const folders: OpenFolder[] = [];
  let opened: OpenedView | null = null;
  function open(pid: number, path: string, owner: FolderOwner): OpenFolder {
    const folder = openFolder(pathInside(pid, path), owner);
    folders.push(folder);
    return folder;
  }
  return {
    overlay: given.overlay,
    writable: given.writable,
    onMounted(firstPid) {
      opened = given.openIn(firstPid, open);
    },
    mounts: given.mounts,
    mirror: null,
    opened: () => opened,
    [Symbol.dispose]() {
      for (const each of folders.splice(0)) each.close();
      removeTree(given.overlay.mounts.folder);
      for (const { upper } of given.layers) if (upper !== null) removeTree(upper.work);
    },
  };
}

export function unmountable(folder: string): Result<never> {
  const why = 'These pending changes are an overlay on the workspace, and none can be mounted now';
  return fail(
    'SANDBOX_UNAVAILABLE',
    `${why}: discard them, or repair the sandbox (toolwright doctor). They are in ${folder}.`,
  );
}
