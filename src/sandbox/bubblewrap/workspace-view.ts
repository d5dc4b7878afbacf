import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { uniqueName } from '../../host/files.ts';
import { samplesOf } from '../../host/proc.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import { sizeOfFolder } from '../limits/disk-growth.ts';
import { copyTree } from '../stage/copy-tree.ts';
import type { LiveFolders } from '../stage/live-folders.ts';
import { type OpenFolder, openFolder } from '../stage/open-folder.ts';
import {
  BASE_VIEW,
  type OverlayLayers,
  type OverlayProgram,
  prepareOverlay,
  REAL_WORKSPACE,
} from '../stage/overlay.ts';
import { beginOverlay, makeWorkFolder, type OpenStage, writeRecord } from '../stage/stage-folder.ts';
import type { WorkspaceView } from './bubblewrap-process.ts';
import { isMasked, maskMounts } from './mounts.ts';
import type { RuntimeFolder } from './runtime-folder.ts';
import { pathInside } from './wait-for-mounts.ts';

/** The workspace as one run sees it. Whoever prepared it disposes of it. */
export interface PreparedView extends Disposable {
  readonly view: WorkspaceView;
  /** Arguments for bubblewrap: the mount of the workspace and those on it. */
  readonly mounts: readonly string[];
  /** The stage as the run saw it, and the view that it stands on; null before all was mounted. */
  opened(): OpenedView | null;
}

export interface OpenedView {
  readonly merged: OpenFolder;
  /** Null when the stage stands on the workspace itself. */
  readonly base: OpenFolder | null;
}

export interface ViewOptions {
  readonly folder: RuntimeFolder;
  readonly workspace: string;
  readonly found: readonly ProtectedPath[];
  /** Null where no overlay can be mounted. */
  readonly program: OverlayProgram | null;
}

/** Nothing of it can be written. */
export function readView(options: ViewOptions): Result<PreparedView> {
  const { workspace, found, program } = options;
  const bind = ['--ro-bind', workspace, workspace];
  const hidden = found.filter(isMasked);
  if (hidden.length === 0) return ok(plainView(workspace, bind));
  if (program !== null) return ok(overlayView(options, program, { below: [], upper: null, live: [] }));
  if (hidden.length > MAX_MASKS) return tooManyMasks(workspace, hidden);
  return ok(plainView(workspace, [...bind, ...maskMounts(options.folder, workspace, hidden)]));
}

/** Nothing can be written, and what a stage holds is seen. */
export function stageReadView(options: ViewOptions, stage: OpenStage): Result<PreparedView> {
  const { workspace, program } = options;
  if (stage.record?.kind === 'copy') return ok(plainView(stage.content, ['--ro-bind', stage.content, workspace]));
  if (program !== null && stage.record !== null) return ok(comparedView({ ...options, program }, stage));
  return readView(options);
}

/** Writes go to the stage. */
export function stagedView(
  options: ViewOptions & { program: OverlayProgram },
  stage: OpenStage,
  live: LiveFolders,
): PreparedView {
  if (stage.record === null) beginOverlay(stage, options.workspace);
  const work = makeWorkFolder(stage);
  const upper = { content: stage.content, work };
  return overlayView(options, options.program, { below: stage.below, upper, live: live.paths });
}

/** The view of a stage in which perhaps a run goes on: all of its layers, and nobody writes to it. */
export function comparedView(options: ViewOptions & { program: OverlayProgram }, stage: OpenStage): PreparedView {
  return overlayView(options, options.program, { below: stage.below, seen: stage.content, upper: null, live: [] });
}

/** Writes go to a copy of the workspace, for a workspace over which no overlay can lie. */
export async function copiedView(
  options: ViewOptions,
  stage: OpenStage,
  live: LiveFolders,
): Promise<Result<PreparedView>> {
  const { workspace } = options;
  if (stage.record === null) {
    const hidden = new Set(options.found.filter(isMasked).map(({ path }) => path));
    const copied = await copyTree({ from: stage.below[0] ?? workspace, to: stage.content, hidden });
    if (copied === null) return tooLarge(workspace);
    // Its time must be later than that of every file of the copy, by a clock that may tick a hundred times a second.
    await sleep(TICK_MS);
    writeRecord(stage.folder, { kind: 'copy', workspace, copied });
  }
  const binds = live.paths.flatMap((path) => ['--ro-bind', join(workspace, path), join(workspace, path)]);
  const view = plainView(stage.content, ['--bind', stage.content, workspace, ...binds]);
  const before = await sizeOfFolder(stage.content);
  return ok({ ...view, view: { ...view.view, writable: { folder: stage.content, before } } });
}

function plainView(source: string, mounts: readonly string[]): PreparedView {
  const view: WorkspaceView = { overlay: null, source, writable: null, onMounted() {} };
  return { view, mounts, opened: () => null, [Symbol.dispose]() {} };
}

function overlayView(
  { folder, workspace, found }: ViewOptions,
  program: OverlayProgram,
  layers: Omit<OverlayLayers, 'workspace' | 'mask'>,
): PreparedView {
  const hidden = found.filter(isMasked).map(({ path }) => path);
  const mask = hidden.length === 0 ? null : folder.masks.layerFor(workspace, hidden);
  const mount = prepareOverlay(join(folder.path, uniqueName('mount')), { ...layers, workspace, mask });
  const open: OpenFolder[] = [];
  let opened: OpenedView | null = null;
  const bind = layers.upper === null ? '--ro-bind' : '--bind';
  return {
    view: {
      overlay: { program, mount },
      source: null,
      writable: layers.upper === null ? null : { folder: layers.upper.content, before: { bytes: 0, entries: 0 } },
      onMounted(firstPid) {
        const merged = keep(openFolder(pathInside(firstPid, workspace), 'ours'));
        const base = mount.baseOptions === null ? null : keep(openFolder(baseSeenBy(firstPid), 'theirs'));
        opened = { merged, base };
      },
    },
    mounts: [
      ...[bind, workspace, workspace],
      ...layers.live.flatMap((path) => ['--ro-bind', join(mount.folder, REAL_WORKSPACE, path), join(workspace, path)]),
    ],
    opened: () => opened,
    [Symbol.dispose]() {
      for (const each of open.splice(0)) each.close();
      removeTree(mount.folder);
      if (layers.upper !== null) removeTree(layers.upper.work);
    },
  };

  /** The second overlay lies outside bubblewrap, in the mount namespace of its parent. */
  function baseSeenBy(firstPid: number): string {
    const outer = samplesOf([firstPid])[0]?.parent;
    if (outer === undefined) throw new Error('the run has ended');
    return pathInside(outer, join(mount.folder, BASE_VIEW));
  }

  function keep(one: OpenFolder): OpenFolder {
    open.push(one);
    return one;
  }
}

const TICK_MS = 11;
/** Each takes a mount, and bubblewrap reads all mounts for each: a thousand take seconds. */
const MAX_MASKS = 1_000;

function tooManyMasks(workspace: string, hidden: readonly ProtectedPath[]): Result<never> {
  return fail(
    'SANDBOX_UNAVAILABLE',
    `${workspace} has ${hidden.length} files to hide, such as ${hidden.at(-1)?.path}, and no overlay can lie over it; without one they may be ${MAX_MASKS}. ` +
      'Add a rule that hides their folder, or one that says that they are no secrets.',
  );
}

function tooLarge(workspace: string): Result<never> {
  const repair =
    'Take mounts out of the workspace, move it to a disk such as ext4, or allow overlays: a kernel from 5.11 on and user namespaces for bwrap.';
  return fail(
    'SANDBOX_UNAVAILABLE',
    `No overlay can lie over ${workspace}, and it has more than 20,000 files or 500 MB, too much to be copied for each command. ${repair}`,
    { repair },
  );
}
