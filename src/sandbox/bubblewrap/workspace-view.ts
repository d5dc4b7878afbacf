import { join } from 'node:path';
import { uniqueName } from '../../host/files.ts';
import { samplesOf } from '../../host/proc.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { isMasked, type ProtectedPath } from '../../kernel/world/protected-path.ts';
import { type OpenFolder, openFolder } from '../stage/open-folder.ts';
import { BASE_VIEW, type OverlayLayers, type OverlayProgram, prepareOverlay } from '../stage/overlay.ts';
import { beginOverlay, makeWorkFolder, type OpenStage } from '../stage/stage-folder.ts';
import { viewOfCopy } from './copied-view.ts';
import { maskMounts } from './mounts.ts';
import { type OpenedView, type PreparedView, plainView, unmountable, type ViewOptions } from './prepared-view.ts';
import { pathInside } from './wait-for-mounts.ts';

/** Nothing of it can be written. */
export function readView(options: ViewOptions): Result<PreparedView> {
  const { workspace, found, program } = options;
  const bind = ['--ro-bind', workspace, workspace];
  const hidden = found.filter(isMasked);
  if (hidden.length === 0) return ok(plainView(bind));
  if (program !== null) return ok(overlayView(options, program, { below: [], upper: null }));
  if (hidden.length > MAX_MASKS) return tooManyMasks(workspace, hidden);
  return ok(plainView([...bind, ...maskMounts(options.folder, workspace, hidden)]));
}

/** Nothing can be written, and what a stage holds is seen. */
export function stageReadView(options: ViewOptions, stage: OpenStage): Result<PreparedView> {
  if (stage.record?.kind === 'copy') return viewOfCopy(options, stage, 'seen');
  return options.program !== null && stage.record !== null ? comparedView(options, stage) : readView(options);
}

/** Writes go to the stage. */
export function stagedView(options: ViewOptions & { program: OverlayProgram }, stage: OpenStage): PreparedView {
  if (stage.record === null) beginOverlay(stage, options.workspace);
  const work = makeWorkFolder(stage);
  const upper = { content: stage.content, work };
  return overlayView(options, options.program, { below: stage.below, upper });
}

/** The view of a stage in which perhaps a run goes on: all of its layers, and nobody writes to it. */
export function comparedView(options: ViewOptions, stage: OpenStage): Result<PreparedView> {
  const { program } = options;
  if (program === null) return unmountable(stage.folder);
  const view = overlayView(options, program, { below: stage.below, seen: stage.content, upper: null });
  return ok(view);
}

function overlayView(
  { folder, workspace, found }: ViewOptions,
  program: OverlayProgram,
  layers: Omit<OverlayLayers, 'program' | 'real' | 'mask'>,
): PreparedView {
  const hidden = found.filter(isMasked).map(({ path }) => path);
  const mask = hidden.length === 0 ? null : folder.masks.layerFor(workspace, hidden);
  const mounts = prepareOverlay(join(folder.path, uniqueName('mount')), { ...layers, program, real: workspace, mask });
  const open: OpenFolder[] = [];
  let opened: OpenedView | null = null;
  const bind = layers.upper === null ? '--ro-bind' : '--bind';
  return {
    view: {
      overlay: { program, mounts },
      writable: layers.upper === null ? null : { folder: layers.upper.content, before: { bytes: 0, entries: 0 } },
      onMounted(firstPid) {
        const merged = keep(openFolder(pathInside(firstPid, workspace), 'ours'));
        const base = mounts.hasBase ? keep(openFolder(baseSeenBy(firstPid), 'theirs')) : null;
        opened = { merged, base, laid: new Map() };
      },
    },
    mounts: [bind, workspace, workspace],
    mirror: null,
    opened: () => opened,
    [Symbol.dispose]() {
      for (const each of open.splice(0)) each.close();
      removeTree(mounts.folder);
      if (layers.upper !== null) removeTree(layers.upper.work);
    },
  };

  /** The second overlay lies outside bubblewrap, in the mount namespace of its parent. */
  function baseSeenBy(firstPid: number): string {
    const outer = samplesOf([firstPid])[0]?.parent;
    if (outer === undefined) throw new Error('the run has ended');
    return pathInside(outer, join(mounts.folder, BASE_VIEW));
  }

  function keep(one: OpenFolder): OpenFolder {
    open.push(one);
    return one;
  }
}

/** Each takes a mount, and bubblewrap reads all mounts for each: a thousand take seconds. */
const MAX_MASKS = 1_000;

function tooManyMasks(workspace: string, hidden: readonly ProtectedPath[]): Result<never> {
  return fail(
    'SANDBOX_UNAVAILABLE',
    `${workspace} has ${hidden.length} files to hide, such as ${hidden.at(-1)?.path}, and no overlay can lie over it; without one they may be ${MAX_MASKS}. ` +
      'Add a rule that hides their folder, or one that says that they are no secrets.',
  );
}
