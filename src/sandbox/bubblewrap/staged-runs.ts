import { catchErrnoAsync } from '../../host/errno.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { OpenView, RunRequest, RunResult } from '../../kernel/world/sandbox.ts';
import type { StagedChanges } from '../../kernel/world/stage.ts';
import type { CheckedRequest } from '../request.ts';
import { listChanges } from '../stage/list-changes.ts';
import { type LiveFolders, NO_LIVE_FOLDERS, watchLiveFolders } from '../stage/live-folders.ts';
import { openFolder } from '../stage/open-folder.ts';
import { type OpenStage, openStage, readRecord } from '../stage/stage-folder.ts';
import type { PreparedSandbox } from './bubblewrap-setup.ts';
import { isMasked } from './mounts.ts';
import { isOverlayRefused, type RunSteps, resultOf, uncheckedIn } from './run-steps.ts';
import {
  comparedView,
  copiedView,
  type PreparedView,
  readView,
  stagedView,
  stageReadView,
  type ViewOptions,
} from './workspace-view.ts';

export interface StagedRuns {
  run(prepared: PreparedSandbox, request: RunRequest, checked: CheckedRequest): Promise<Result<RunResult>>;
  /** Mounts the layers of a stage once more, to look at it. TOO_LARGE for more than `maxChanges`. */
  changesOf(prepared: PreparedSandbox, given: CheckedStage): Promise<Result<StagedChanges>>;
  /** Runs a command that sees a stage and cannot write. */
  read(prepared: PreparedSandbox, request: RunRequest, checked: CheckedRequest): Promise<Result<RunResult>>;
  /** Mounts a stage for this process; no run may write to it until the view is closed. */
  open(prepared: PreparedSandbox, given: CheckedStage): Promise<Result<OpenView>>;
}

/** A stage that was found fit for use. */
export interface CheckedStage {
  readonly stage: OpenStage;
  readonly workspace: string;
  readonly maxChanges: number;
}

interface StagedRun {
  readonly request: RunRequest;
  readonly checked: CheckedRequest;
  readonly stage: OpenStage;
  readonly layers: 'overlay' | 'copy';
}

/** Runs of mode `staged`, and comparisons of their stages. */
export function createStagedRuns(steps: RunSteps): StagedRuns {
  /** Stages in which a run goes on: two mounts of one layer damage it. */
  const busy = new Set<string>();
  /** How many views of a stage this process has open: the next one may be mounted before the last one is closed. */
  const views = new Map<string, number>();

  async function run(
    prepared: PreparedSandbox,
    request: RunRequest,
    checked: CheckedRequest,
  ): Promise<Result<RunResult>> {
    if (request.stage === undefined) {
      return fail('INVALID_INPUT', 'A staged run needs a stage: give the folder of one.');
    }
    const { folder } = request.stage;
    const opened = openStage(request.stage, checked.workspace, prepared.stages.folder);
    if (!opened.ok) return opened;
    if (busy.has(folder) || views.has(folder)) return isBusy(folder);
    busy.add(folder);
    try {
      const given = { request, checked, stage: opened.value };
      const runWith = (layers: StagedRun['layers']) =>
        catchErrnoAsync('The private view of this command', () => runInStage(prepared, { ...given, layers }));
      const ran = await runWith('overlay');
      // A stage with changes of earlier runs stays as it is.
      if (!isOverlayRefused(ran) || opened.value.record !== null) return ran;
      removeTree(opened.value.content);
      return await runWith('copy');
    } finally {
      busy.delete(folder);
    }
  }

  async function runInStage(
    prepared: PreparedSandbox,
    { request, checked, stage, layers }: StagedRun,
  ): Promise<Result<RunResult>> {
    const { workspace, limits } = checked;
    const found = await steps.findHidden(workspace);
    if (!found.ok) return found;
    const policy = steps.options.filePolicy;
    using live = watchLiveFolders({ workspace, wanted: stage.live, found: found.value, policy });
    const options = steps.viewOptions(prepared, workspace, found.value);
    const made = await viewOf(layers === 'copy' ? { ...options, program: null } : options, stage, live);
    if (!made.ok) return made;
    using view = made.value;
    const ran = await steps.start(prepared, request, { checked, view, live });
    if (!ran.ok) return ran;
    const query = { stage, workspace, maxChanges: limits.newFiles };
    // Live folders lie over what earlier runs of the stage changed there; a run that was ended early has no view.
    const isSeen = view.opened() !== null && live.paths.length === 0;
    const changes = isSeen ? await listOpened(query, found.value, view) : await changesOf(prepared, query);
    if (!changes.ok && changes.error.code !== 'TOO_LARGE') {
      ran.value.supervised.output.log.dispose();
      return changes;
    }
    const end = changes.ok ? ran.value : { ...ran.value, endedBy: ran.value.endedBy ?? ('write' as const) };
    return ok(resultOf(end, checked, { staged: changes.ok ? changes.value : null, notes: live.notes }));
  }

  async function changesOf(prepared: PreparedSandbox, query: CheckedStage): Promise<Result<StagedChanges>> {
    const { stage, workspace } = query;
    const record = readRecord(stage.folder);
    if (record === null) return ok({ changes: [], content: stage.content });
    const found = await steps.findHidden(workspace);
    if (!found.ok) return found;
    if (record.kind === 'copy') return listOpened(query, found.value, null);
    const view = steps.viewOptions(prepared, workspace, found.value);
    if (view.program === null) return unmountable(stage.folder);
    using compared = comparedView({ ...view, program: view.program }, stage);
    const mounted = await mountOnly(prepared, workspace, compared);
    return mounted.ok ? await listOpened(query, found.value, compared) : mounted;
  }

  /** Mounts a view without a command of anybody in it. */
  async function mountOnly(prepared: PreparedSandbox, workspace: string, view: PreparedView): Promise<Result<void>> {
    const request: RunRequest = { command: ['/bin/true'], workspace, mounts: 'read', tag: 'view' };
    const ran = await steps.start(prepared, request, {
      checked: uncheckedIn(workspace),
      view,
      live: NO_LIVE_FOLDERS,
    });
    if (!ran.ok) return ran;
    ran.value.supervised.output.log.dispose();
    return view.opened() === null && view.view.overlay !== null ? unmountable(workspace) : ok(undefined);
  }

  async function read(
    prepared: PreparedSandbox,
    request: RunRequest,
    checked: CheckedRequest,
  ): Promise<Result<RunResult>> {
    const { workspace } = checked;
    const found = await steps.findHidden(workspace);
    if (!found.ok) return found;
    const options = steps.viewOptions(prepared, workspace, found.value);
    const opened = request.stage && openStage(request.stage, workspace, prepared.stages.folder);
    if (opened?.ok === false) return opened;
    const stage = opened?.value;
    const layered = await runIn(options);
    return isOverlayRefused(layered) ? runIn({ ...options, program: null }) : layered;

    async function runIn(viewOptions: ViewOptions): Promise<Result<RunResult>> {
      const made = stage === undefined ? readView(viewOptions) : stageReadView(viewOptions, stage);
      if (!made.ok) return made;
      using view = made.value;
      const ran = await steps.start(prepared, request, { checked, view, live: NO_LIVE_FOLDERS });
      return ran.ok ? ok(resultOf(ran.value, checked, { staged: null, notes: [] })) : ran;
    }
  }

  async function open(prepared: PreparedSandbox, { stage, workspace }: CheckedStage): Promise<Result<OpenView>> {
    if (busy.has(stage.folder)) return isBusy(stage.folder);
    const found = await steps.findHidden(workspace);
    if (!found.ok) return found;
    const options = steps.viewOptions(prepared, workspace, found.value);
    const mounted = await mount(options);
    if (!isOverlayRefused(mounted) || stage.record !== null) return mounted;
    removeTree(stage.content);
    return mount({ ...options, program: null });

    async function mount(viewOptions: ViewOptions): Promise<Result<OpenView>> {
      const leave = enter(stage.folder);
      const made = await viewOf(viewOptions, stage, NO_LIVE_FOLDERS);
      const done =
        made.ok && made.value.view.overlay !== null ? await mountOnly(prepared, workspace, made.value) : made;
      if (!made.ok || !done.ok) {
        if (made.ok) made.value[Symbol.dispose]();
        leave();
        return done.ok ? unmountable(stage.folder) : done;
      }
      const view = made.value;
      const copy = view.opened() === null ? openFolder(stage.content, 'ours') : null;
      return ok({
        fd: (copy ?? view.opened()?.merged)?.fd ?? -1,
        close() {
          copy?.close();
          view[Symbol.dispose]();
          leave();
        },
      });
    }
  }

  function enter(folder: string): () => void {
    views.set(folder, (views.get(folder) ?? 0) + 1);
    return () => {
      const left = (views.get(folder) ?? 1) - 1;
      if (left === 0) views.delete(folder);
      else views.set(folder, left);
    };
  }

  return { run, changesOf, read, open };
}

/** A stage goes on as it was begun. */
async function viewOf(options: ViewOptions, stage: OpenStage, live: LiveFolders): Promise<Result<PreparedView>> {
  const { program } = options;
  if (program === null || stage.record?.kind === 'copy') {
    return stage.record?.kind === 'overlay' ? unmountable(stage.folder) : copiedView(options, stage, live);
  }
  return ok(stagedView({ ...options, program }, stage, live));
}

function listOpened(
  query: CheckedStage,
  found: readonly ProtectedPath[],
  view: PreparedView | null,
): Promise<Result<StagedChanges>> {
  const hidden = found.filter(isMasked).map(({ path }) => path);
  return listChanges({ ...query, opened: view?.opened() ?? null, hidden });
}

function isBusy(folder: string): Result<never> {
  return fail('CONFLICT', `A run goes on in the stage ${folder}: wait until it has ended.`);
}

function unmountable(folder: string): Result<never> {
  return fail('SANDBOX_UNAVAILABLE', `${folder} is a stage of layers, and none can be mounted now: discard it.`);
}
