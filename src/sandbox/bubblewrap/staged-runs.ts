import { catchErrnoAsync } from '../../host/errno.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { hiddenFiles, type ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { OpenView, RunRequest, RunResult } from '../../kernel/world/sandbox.ts';
import type { StagedChanges } from '../../kernel/world/stage.ts';
import type { CheckedRequest } from '../request.ts';
import { saveMirror } from '../stage/begin-copy.ts';
import { listChanges } from '../stage/list-changes.ts';
import type { Mirror } from '../stage/mirror.ts';
import { openStageFiles, readRecord, type StageFiles } from '../stage/stage-folder.ts';
import type { PreparedSandbox } from './bubblewrap-setup.ts';
import { viewOfCopy } from './copied-view.ts';
import { innerMounts } from './inner-mounts.ts';
import type { PreparedView } from './prepared-view.ts';
import { isOverlayRefused, type RunSteps, resultOf } from './run-steps.ts';
import { mountOnly, openStageView, readRun, viewOf } from './stage-views.ts';
import { comparedView } from './workspace-view.ts';

export interface StagedRuns {
  run(prepared: PreparedSandbox, request: RunRequest, checked: CheckedRequest): Promise<Result<RunResult>>;
  /** Lists the changes of a stage, for which its layers are mounted once more. TOO_LARGE for more than `maxChanges`. */
  changesOf(prepared: PreparedSandbox, given: CheckedStage): Promise<Result<StagedChanges>>;
  /** Runs a command that sees a stage and cannot write. */
  read(prepared: PreparedSandbox, request: RunRequest, checked: CheckedRequest): Promise<Result<RunResult>>;
  /** Mounts a stage for this process; no run may write to it until the view is closed. */
  open(prepared: PreparedSandbox, given: CheckedStage): Promise<Result<OpenView>>;
}

/** A stage whose folders belong to this workspace, and the most changes that may be listed. */
export interface CheckedStage {
  readonly stage: StageFiles;
  readonly workspace: string;
  readonly maxChanges: number;
}

interface StagedRun {
  readonly request: RunRequest;
  readonly checked: CheckedRequest;
  readonly stage: StageFiles;
  readonly layers: 'overlay' | 'copy';
}

/** Runs that write to a stage or only read one, lists of its changes, and views of it for this process. */
export function createStagedRuns(steps: RunSteps): StagedRuns {
  /** Stages in which a run goes on: two mounts of one layer damage it. */
  const busy = new Set<string>();
  /** How many views of a stage this process has open: the next one may be mounted before the last one is closed. */
  const views = new Map<string, number>();
  /** Of the runs that follow the host now, by the folder of their stage. */
  const mirrors = new Map<string, Mirror>();

  async function run(
    prepared: PreparedSandbox,
    request: RunRequest,
    checked: CheckedRequest,
  ): Promise<Result<RunResult>> {
    if (request.stage === undefined) {
      return fail('INVALID_INPUT', "A run with mounts 'staged' needs a folder for its changes: give one as `stage`.");
    }
    const { folder } = request.stage;
    const opened = openStageFiles(request.stage, checked.workspace, prepared.stages.folder);
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
    const hidden = await steps.findHidden(workspace, request.onWait);
    if (!hidden.ok) return hidden;
    await request.onHidden?.(hiddenFiles(hidden.value));
    const options = steps.viewOptions(prepared, workspace, hidden.value);
    const made = await viewOf(steps, layers === 'copy' ? { ...options, program: null } : options, stage);
    if (!made.ok) return made;
    using view = made.value;
    const { mirror } = view;
    if (mirror !== null) mirrors.set(stage.folder, mirror);
    const ran = await steps.start(prepared, request, { checked, view });
    await mirror?.catchUp();
    save(stage);
    mirrors.delete(stage.folder);
    if (!ran.ok) return ran;
    const query = { stage, workspace, maxChanges: limits.newFiles };
    // A run that was ended early has no view; and where the host was followed, other files may have to be hidden by now.
    const isSeen = view.opened() !== null && mirror === null;
    const changes = isSeen ? await listOpened(query, hidden.value, view) : await changesOf(prepared, query);
    if (!changes.ok && changes.error.code !== 'TOO_LARGE') {
      ran.value.supervised.output.log.dispose();
      return changes;
    }
    const end = changes.ok ? ran.value : { ...ran.value, endedBy: ran.value.endedBy ?? ('write' as const) };
    const copied = mirror?.notes() ?? copyNotes(prepared, stage, workspace);
    const notes = [...copied, ...steps.notesOf(hidden.value, ran.value)];
    return ok(resultOf(end, checked, { staged: changes.ok ? changes.value : null, notes }));
  }

  async function changesOf(prepared: PreparedSandbox, query: CheckedStage): Promise<Result<StagedChanges>> {
    const { stage, workspace } = query;
    const record = readRecord(stage.folder);
    if (record === null) return ok({ changes: [], content: stage.content });
    const hidden = await steps.findHidden(workspace);
    if (!hidden.ok) return hidden;
    save(stage);
    const options = steps.viewOptions(prepared, workspace, hidden.value);
    const made = record.kind === 'copy' ? viewOfCopy(options, stage, 'seen') : comparedView(options, stage);
    if (!made.ok) return made;
    using compared = made.value;
    if (compared.overlay === null) return listOpened(query, hidden.value, null);
    const mounted = await mountOnly(steps, { prepared, workspace, view: compared });
    return mounted.ok ? await listOpened(query, hidden.value, compared) : mounted;
  }

  function save(stage: StageFiles): void {
    const mirror = mirrors.get(stage.folder);
    const record = readRecord(stage.folder);
    if (mirror !== undefined && record !== null) saveMirror(stage, mirror, record);
  }

  async function open(prepared: PreparedSandbox, { stage, workspace }: CheckedStage): Promise<Result<OpenView>> {
    if (busy.has(stage.folder)) return isBusy(stage.folder);
    const leave = enter(stage.folder);
    const opened = await openStageView(steps, { prepared, stage, workspace, onClose: leave });
    if (!opened.ok) leave();
    return opened;
  }

  function enter(folder: string): () => void {
    views.set(folder, (views.get(folder) ?? 0) + 1);
    return () => {
      const left = (views.get(folder) ?? 1) - 1;
      if (left === 0) views.delete(folder);
      else views.set(folder, left);
    };
  }

  return {
    run,
    changesOf,
    open,
    read: (prepared, request, checked) => readRun(steps, { prepared, request, checked }),
  };
}

function listOpened(
  query: CheckedStage,
  hidden: readonly ProtectedPath[],
  view: PreparedView | null,
): Promise<Result<StagedChanges>> {
  return listChanges({ ...query, opened: view?.opened() ?? null, masked: hidden.map(({ path }) => path) });
}

/** Why a stage is a copy where stages could be overlays. */
function copyNotes({ stages }: PreparedSandbox, { folder }: StageFiles, workspace: string): string[] {
  if (stages.program === null || readRecord(folder)?.kind !== 'copy') return [];
  const mounts = innerMounts(workspace).map((point) => point.slice(workspace.length + 1));
  if (mounts.length === 0) return [];
  const shown = mounts.slice(0, 3).join(', ');
  return [`There is a mount inside the workspace (${shown}), so it was copied for this run: unmount it for speed.`];
}

function isBusy(folder: string): Result<never> {
  return fail(
    'CONFLICT',
    `A command or a file tool still works on these pending changes: wait until it has ended. They are in ${folder}.`,
  );
}
