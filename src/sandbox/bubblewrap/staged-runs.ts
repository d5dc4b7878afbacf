import { removeTree } from '../../host/remove-tree.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { RunRequest, RunResult } from '../../kernel/world/sandbox.ts';
import type { StagedChanges } from '../../kernel/world/stage.ts';
import type { CheckedRequest } from '../request.ts';
import { listChanges } from '../stage/list-changes.ts';
import { type LiveFolders, NO_LIVE_FOLDERS, watchLiveFolders } from '../stage/live-folders.ts';
import { type OpenStage, openStage, readRecord } from '../stage/stage-folder.ts';
import type { PreparedSandbox } from './bubblewrap-setup.ts';
import { isMasked } from './mounts.ts';
import { isOverlayRefused, type RunSteps, resultOf, uncheckedIn } from './run-steps.ts';
import { comparedView, copiedView, type PreparedView, stagedView, type ViewOptions } from './workspace-view.ts';

export interface StagedRuns {
  run(prepared: PreparedSandbox, request: RunRequest, checked: CheckedRequest): Promise<Result<RunResult>>;
  /** Mounts the layers of a stage once more, to look at it. TOO_LARGE for more than `maxChanges`. */
  changesOf(prepared: PreparedSandbox, given: StageQuery): Promise<Result<StagedChanges>>;
}

interface StageQuery {
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
    if (busy.has(folder)) return fail('CONFLICT', `A run goes on in the stage ${folder}: wait until it has ended.`);
    busy.add(folder);
    try {
      const given = { request, checked, stage: opened.value };
      const ran = await runInStage(prepared, { ...given, layers: 'overlay' });
      // A stage with changes of earlier runs stays as it is.
      if (!isOverlayRefused(ran) || opened.value.record !== null) return ran;
      removeTree(opened.value.content);
      return await runInStage(prepared, { ...given, layers: 'copy' });
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

  async function changesOf(prepared: PreparedSandbox, query: StageQuery): Promise<Result<StagedChanges>> {
    const { stage, workspace } = query;
    const record = readRecord(stage.folder);
    if (record === null) return ok({ changes: [], content: stage.content });
    const found = await steps.findHidden(workspace);
    if (!found.ok) return found;
    if (record.kind === 'copy') return listOpened(query, found.value, null);
    const view = steps.viewOptions(prepared, workspace, found.value);
    if (view.program === null) return unmountable(stage);
    using compared = comparedView({ ...view, program: view.program }, stage);
    const request: RunRequest = { command: ['/bin/true'], workspace, mounts: 'read', tag: 'compare' };
    const ran = await steps.start(prepared, request, {
      checked: uncheckedIn(workspace),
      view: compared,
      live: NO_LIVE_FOLDERS,
    });
    if (!ran.ok) return ran;
    ran.value.supervised.output.log.dispose();
    return await listOpened(query, found.value, compared);
  }

  return { run, changesOf };
}

/** A stage goes on as it was begun. */
async function viewOf(options: ViewOptions, stage: OpenStage, live: LiveFolders): Promise<Result<PreparedView>> {
  const { program } = options;
  if (program === null || stage.record?.kind === 'copy') {
    return stage.record?.kind === 'overlay' ? unmountable(stage) : copiedView(options, stage, live);
  }
  return ok(stagedView({ ...options, program }, stage, live));
}

function listOpened(
  query: StageQuery,
  found: readonly ProtectedPath[],
  view: PreparedView | null,
): Promise<Result<StagedChanges>> {
  const hidden = found.filter(isMasked).map(({ path }) => path);
  return listChanges({ ...query, opened: view?.opened() ?? null, hidden });
}

function unmountable({ folder }: OpenStage): Result<never> {
  return fail('SANDBOX_UNAVAILABLE', `${folder} is a stage of layers, and none can be mounted now: discard it.`);
}
