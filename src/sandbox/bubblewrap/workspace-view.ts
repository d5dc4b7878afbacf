import { join } from 'node:path';
import { uniqueName } from '../../host/files.ts';
import { samplesOf } from '../../host/proc.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { isMasked, type ProtectedPath } from '../../kernel/world/protected-path.ts';
import { BASE_VIEW, type OverlayLayers, type OverlayProgram, prepareOverlay } from '../stage/overlay.ts';
import { beginOverlay, makeWorkFolder, type OpenStage } from '../stage/stage-folder.ts';
import { viewOfCopy } from './copied-view.ts';
import { maskMounts } from './mounts.ts';
import { overlaidView, type PreparedView, plainView, unmountable, type ViewOptions } from './prepared-view.ts';

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
  given: Omit<OverlayLayers, 'program' | 'real' | 'mask'>,
): PreparedView {
  const hidden = found.filter(isMasked).map(({ path }) => path);
  const mask = hidden.length === 0 ? null : folder.masks.layerFor(workspace, hidden);
  const layers = { ...given, program, real: workspace, mask };
  const mounts = prepareOverlay(join(folder.path, uniqueName('mount')), layers);
  const bind = layers.upper === null ? '--ro-bind' : '--bind';
  return overlaidView({
    overlay: { program, mounts },
    layers: [layers],
    mounts: [bind, workspace, workspace],
    writable: layers.upper === null ? null : { folder: layers.upper.content, before: { bytes: 0, entries: 0 } },
    openedIn: (firstPid, open) => ({
      merged: open(firstPid, workspace, 'ours'),
      // The second overlay lies outside bubblewrap, in the mount namespace of its parent.
      base: mounts.hasBase ? open(parentOf(firstPid), join(mounts.folder, BASE_VIEW), 'theirs') : null,
      laid: new Map(),
    }),
  });
}

function parentOf(pid: number): number {
  const parent = samplesOf([pid])[0]?.parent;
  if (parent === undefined) throw new Error('the run has ended');
  return parent;
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
