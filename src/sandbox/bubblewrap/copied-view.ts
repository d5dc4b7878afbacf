import { join } from 'node:path';
import { uniqueName } from '../../host/files.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { sizeOfFolder } from '../limits/disk-growth.ts';
import { beginCopy, beginMirror } from '../stage/begin-copy.ts';
import type { HiddenPaths } from '../stage/hidden-paths.ts';
import type { Mirror } from '../stage/mirror.ts';
import { type OverlayLayers, type OverlayProgram, prepareOverlays } from '../stage/overlay.ts';
import { makeWorkFolder, readRecord, type StageFiles } from '../stage/stage-folder.ts';
import { type PreparedView, plainView, unmountable, type ViewOptions, viewUnderOverlays } from './prepared-view.ts';

/**
 * Writes go to a copy of the workspace: where no overlay can lie over it, and for a run that follows the host, so that new
 * files of the host reach it only through the mirror.
 */
export async function copiedView(
  options: ViewOptions,
  stage: StageFiles,
  hidden: HiddenPaths,
): Promise<Result<PreparedView>> {
  if (stage.followsHost && (stage.record !== null || stage.below.length > 0)) {
    return fail(
      'INVALID_INPUT',
      'A run that follows the host needs a new folder for its changes, on the workspace itself.',
    );
  }
  const plan = { stage, workspace: options.workspace, hidden };
  let mirror: Mirror | null = null;
  if (stage.followsHost) {
    const begun = await beginMirror({ ...plan, canMountOverlays: options.program !== null });
    if (!begun.ok) return begun;
    mirror = begun.value;
  } else if (stage.record === null) {
    const begun = await beginCopy(plan);
    if (!begun.ok) return begun;
  }
  const view = viewOfCopy(options, stage, 'written');
  if (!view.ok) {
    mirror?.[Symbol.dispose]();
    return view;
  }
  const writable = { folder: stage.content, before: await sizeOfFolder(stage.content) };
  return ok({
    ...view.value,
    mirror,
    writable,
    [Symbol.dispose]() {
      mirror?.[Symbol.dispose]();
      view.value[Symbol.dispose]();
    },
  });
}

/** The copy as its runs see it. */
export function viewOfCopy(options: ViewOptions, stage: StageFiles, use: 'written' | 'seen'): Result<PreparedView> {
  const overlaid = readRecord(stage.folder)?.overlaid ?? [];
  const bind = [use === 'written' ? '--bind' : '--ro-bind', stage.content, options.workspace];
  if (overlaid.length === 0) return ok(plainView(bind));
  if (options.program === null) return unmountable(stage.folder);
  const layered = { ...options, program: options.program };
  return ok(copyUnderOverlays(layered, bind, layersOf(layered, { stage, overlaid, use })));
}

type LayeredOptions = ViewOptions & { readonly program: OverlayProgram };

/** A folder of the workspace that is not copied, by its path in it. */
type OverlaidLayers = OverlayLayers & { readonly path: string };

/** Writes to such a folder go to the empty one of the copy. */
function layersOf(
  { folder, workspace, hidden, program }: LayeredOptions,
  { stage, overlaid, use }: { stage: StageFiles; overlaid: readonly string[]; use: 'written' | 'seen' },
): OverlaidLayers[] {
  return overlaid.map((bytes) => {
    const path = Buffer.from(bytes, 'latin1').toString();
    const real = join(workspace, path);
    const inIt = hidden.filter((each) => each.path.startsWith(`${path}/`));
    const masked = inIt.map((each) => each.path.slice(path.length + 1));
    const mask = masked.length === 0 ? null : folder.masks.layerFor(real, masked);
    const content = join(stage.content, path);
    const layers = { program, path, real, mask, below: [] };
    if (use === 'seen') return { ...layers, seen: content, upper: null };
    return { ...layers, upper: { content, work: makeWorkFolder(stage) } };
  });
}

function copyUnderOverlays(
  { folder, workspace, program }: LayeredOptions,
  bind: readonly string[],
  layers: readonly OverlaidLayers[],
): PreparedView {
  const mounts = prepareOverlays(join(folder.path, uniqueName('mount')), layers);
  const [how = '--ro-bind'] = bind;
  const binds = layers.flatMap(({ path }, i) => [how, join(mounts.folder, `${i}`), join(workspace, path)]);
  return viewUnderOverlays({
    overlay: { program, mounts },
    layers,
    mounts: [...bind, ...binds],
    writable: null,
    openIn(firstPid, open) {
      const at = (path: string) => open(firstPid, join(workspace, path), 'ours');
      // Each by itself: the mounts in a folder are gone with the run that it belongs to.
      return { merged: at(''), base: null, overlaid: new Map(layers.map(({ path }) => [path, at(path)])) };
    },
  });
}
