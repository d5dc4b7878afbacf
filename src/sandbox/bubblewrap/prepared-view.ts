import { fail, type Result } from '../../kernel/result.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { Mirror } from '../stage/mirror.ts';
import type { OpenFolder } from '../stage/open-folder.ts';
import type { OverlayProgram } from '../stage/overlay.ts';
import type { WorkspaceView } from './bubblewrap-process.ts';
import type { RuntimeFolder } from './runtime-folder.ts';

/** The workspace as one run sees it. Whoever prepared it disposes of it. */
export interface PreparedView extends Disposable {
  readonly view: WorkspaceView;
  /** Arguments for bubblewrap: the mount of the workspace and those on it. */
  readonly mounts: readonly string[];
  /** Brings edits of the host to the run; null for one that does not follow them. */
  readonly mirror: Mirror | null;
  /** The stage as the run saw it, and the view that it stands on; null before all was mounted, and for a whole copy. */
  opened(): OpenedView | null;
}

export interface OpenedView {
  readonly merged: OpenFolder;
  /** Null when the stage stands on the workspace itself. */
  readonly base: OpenFolder | null;
  /** Folders of a copy over which overlays of their own lie, by their paths. */
  readonly laid: ReadonlyMap<string, OpenFolder>;
}

export interface ViewOptions {
  readonly folder: RuntimeFolder;
  readonly workspace: string;
  readonly found: readonly ProtectedPath[];
  /** Null where no overlay can be mounted. */
  readonly program: OverlayProgram | null;
}

/** A folder under the name of the workspace, without an overlay. */
export function plainView(mounts: readonly string[]): PreparedView {
  const view: WorkspaceView = { overlay: null, writable: null, onMounted() {} };
  return { view, mounts, mirror: null, opened: () => null, [Symbol.dispose]() {} };
}

export function unmountable(folder: string): Result<never> {
  const why = 'These pending changes are an overlay on the workspace, and none can be mounted now';
  return fail(
    'SANDBOX_UNAVAILABLE',
    `${why}: discard them, or repair the sandbox (toolwright doctor). They are in ${folder}.`,
  );
}
