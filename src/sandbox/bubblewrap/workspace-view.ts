import { join } from 'node:path';
import { uniqueName } from '../../host/files.ts';
import { samplesOf } from '../../host/proc.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import { BASE_VIEW, type OverlayLayers, type OverlayProgram, prepareOverlay } from '../stage/overlay.ts';
import { beginOverlay, makeWorkFolder, type StageFiles } from '../stage/stage-folder.ts';
import { viewOfCopy } from './copied-view.ts';
import { maskMounts } from './mounts.ts';
import { type PreparedView, plainView, unmountable, type ViewOptions, viewUnderOverlays } from './prepared-view.ts';

/** The workspace without its hidden files, and nothing can be written. */
export function readView(options: ViewOptions): Result<PreparedView> {
  const { workspace, hidden, program } = options;
  const bind = ['--ro-bind', workspace, workspace];
  if (hidden.length === 0) return ok(plainView(bind));
  if (program !== null) return ok(overlayView(options, program, { below: [], upper: null }));
  if (hidden.length > MAX_MASKS) return tooManyMasks(workspace, hidden);
  return ok(plainView([...bind, ...maskMounts(options.folder, workspace, hidden)]));
}

/** The workspace with the changes of a stage, and nothing can be written. */
export function stageReadView(options: ViewOptions, stage: StageFiles): Result<PreparedView> {
  if (stage.record?.kind === 'copy') return viewOfCopy(options, stage, 'seen');
  return options.program !== null && stage.record !== null ? comparedView(options, stage) : readView(options);
}

/** The workspace with the changes of a stage, and writes go to the stage. */
export function stagedView(options: ViewOptions & { program: OverlayProgram }, stage: StageFiles): PreparedView {
  if (stage.record === null) beginOverlay(stage, options.workspace);
  const work = makeWorkFolder(stage);
  const upper = { content: stage.content, work };
  return overlayView(options, options.program, { below: stage.below, upper });
}

/** All layers of a stage, read-only: a run may still write to the stage in a view of its own. */
export function comparedView(options: ViewOptions, stage: StageFiles): Result<PreparedView> {
  const { program } = options;
  if (program === null) return unmountable(stage.folder);
  const view = overlayView(options, program, { below: stage.below, seen: stage.content, upper: null });
  return ok(view);
}

function overlayView(
  { folder, workspace, hidden }: ViewOptions,
  program: OverlayProgram,
  given: Omit<OverlayLayers, 'program' | 'real' | 'mask'>,
): PreparedView {
  const masked = hidden.map(({ path }) => path);
  const mask = masked.length === 0 ? null : folder.masks.layerFor(workspace, masked);
  const layers = { ...given, program, real: workspace, mask };
  const mounts = prepareOverlay(join(folder.path, uniqueName('mount')), layers);
  const bind = layers.upper === null ? '--ro-bind' : '--bind';
  return viewUnderOverlays({
    overlay: { program, mounts },
    layers: [layers],
    mounts: [bind, workspace, workspace],
    writable: layers.upper === null ? null : { folder: layers.upper.content, before: { bytes: 0, entries: 0 } },
    openIn: (firstPid, open) => ({
      merged: open(firstPid, workspace, 'ours'),
      // The second overlay lies outside bubblewrap, in the mount namespace of its parent.
      base: mounts.hasBase ? open(parentOf(firstPid), join(mounts.folder, BASE_VIEW), 'theirs') : null,
      overlaid: new Map(),
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
