import { removeTree } from '../../host/remove-tree.ts';
import { ok, type Result } from '../../kernel/result.ts';
import { hiddenFiles } from '../../kernel/world/protected-path.ts';
import type { OpenView, RunRequest, RunResult } from '../../kernel/world/sandbox.ts';
import { commandPolicy } from '../protected-paths/command-policy.ts';
import type { CheckedRequest } from '../request.ts';
import { createHiddenPaths } from '../stage/hidden-paths.ts';
import { openFolder } from '../stage/open-folder.ts';
import { openStageFiles, type StageFiles } from '../stage/stage-folder.ts';
import type { PreparedSandbox } from './bubblewrap-setup.ts';
import { copiedView } from './copied-view.ts';
import { type PreparedView, unmountable, type ViewOptions } from './prepared-view.ts';
import { isOverlayRefused, ownRequestIn, type RunSteps, resultOf } from './run-steps.ts';
import { readView, stagedView, stageReadView } from './workspace-view.ts';

/** Mounts a view for this process alone: no command of anybody runs in it. */
export async function mountOnly(
  steps: RunSteps,
  { prepared, workspace, view }: { prepared: PreparedSandbox; workspace: string; view: PreparedView },
): Promise<Result<void>> {
  const request: RunRequest = { command: ['/bin/true'], workspace, mounts: 'read', tag: 'view' };
  const ran = await steps.start(prepared, request, { checked: ownRequestIn(workspace), view });
  if (!ran.ok) return ran;
  ran.value.supervised.output.log.dispose();
  return view.opened() === null && view.overlay !== null ? unmountable(workspace) : ok(undefined);
}

/** The view in which a run writes to a stage. A stage that was begun as an overlay or a copy stays one. */
export async function viewOf(steps: RunSteps, options: ViewOptions, stage: StageFiles): Promise<Result<PreparedView>> {
  const { workspace, hidden, program } = options;
  if (program !== null && stage.record?.kind !== 'copy' && !stage.followsHost) {
    return ok(stagedView({ ...options, program }, stage));
  }
  if (stage.record?.kind === 'overlay') return unmountable(stage.folder);
  const policy = commandPolicy(steps.options, workspace);
  return copiedView(options, stage, createHiddenPaths({ policy, hidden, find: () => steps.findHidden(workspace) }));
}

/** A run of mode `read`: it sees the workspace, or a stage, and cannot write. */
export async function readRun(
  steps: RunSteps,
  { prepared, request, checked }: { prepared: PreparedSandbox; request: RunRequest; checked: CheckedRequest },
): Promise<Result<RunResult>> {
  const { workspace } = checked;
  const hidden = await steps.findHidden(workspace, request.onWait);
  if (!hidden.ok) return hidden;
  const { value: masked } = hidden;
  await request.onHidden?.(hiddenFiles(masked));
  const options = steps.viewOptions(prepared, workspace, masked);
  const opened = request.stage && openStageFiles(request.stage, workspace, prepared.stages.folder);
  if (opened?.ok === false) return opened;
  const stage = opened?.value;
  const layered = await runIn(options);
  return isOverlayRefused(layered) ? runIn({ ...options, program: null }) : layered;

  async function runIn(viewOptions: ViewOptions): Promise<Result<RunResult>> {
    const made = stage === undefined ? readView(viewOptions) : stageReadView(viewOptions, stage);
    if (!made.ok) return made;
    using view = made.value;
    const ran = await steps.start(prepared, request, { checked, view });
    if (!ran.ok) return ran;
    const notes = steps.notesOf(masked, ran.value);
    return ok(resultOf(ran.value, checked, { staged: null, notes }));
  }
}

/** Opens the view of a stage for this process, until it is closed. */
export async function openStageView(
  steps: RunSteps,
  given: { prepared: PreparedSandbox; stage: StageFiles; workspace: string; onClose(): void },
): Promise<Result<OpenView>> {
  const { prepared, stage, workspace } = given;
  const hidden = await steps.findHidden(workspace);
  if (!hidden.ok) return hidden;
  const options = steps.viewOptions(prepared, workspace, hidden.value);
  const mounted = await mount(options);
  if (!isOverlayRefused(mounted) || stage.record !== null) return mounted;
  removeTree(stage.content);
  return mount({ ...options, program: null });

  async function mount(viewOptions: ViewOptions): Promise<Result<OpenView>> {
    const made = await viewOf(steps, viewOptions, stage);
    if (!made.ok) return made;
    const view = made.value;
    const done = view.overlay === null ? made : await mountOnly(steps, { prepared, workspace, view });
    if (!done.ok) {
      view[Symbol.dispose]();
      return done;
    }
    const copy = view.opened() === null ? openFolder(stage.content, 'ours') : null;
    return ok({
      fd: (copy ?? view.opened()?.merged)?.fd ?? -1,
      close() {
        copy?.close();
        view[Symbol.dispose]();
        given.onClose();
      },
    });
  }
}
