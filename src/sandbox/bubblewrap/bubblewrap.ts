import { fail, ok, type Result } from '../../kernel/result.ts';
import {
  DEFAULT_LIMITS,
  type RunRequest,
  type RunResult,
  type Sandbox,
  type StageQuery,
} from '../../kernel/world/sandbox.ts';
import { createQueue } from '../queue.ts';
import { checkRequest } from '../request.ts';
import { checkSize } from '../request-size.ts';
import { CLOSED } from '../run/supervise.ts';
import { openStageFiles } from '../stage/stage-folder.ts';
import { type BubblewrapOptions, type PreparedSandbox, setUp, setupError, tidy } from './bubblewrap-setup.ts';
import { createRunSteps } from './run-steps.ts';
import { type CheckedStage, createStagedRuns } from './staged-runs.ts';
import { tryOut } from './try-out.ts';

/**
 * The sandbox of Linux. One run: check the request → wait for a place → find the paths to hide → prepare the view of the
 * workspace → run the process in it → list its changes.
 */

const MAX_RUNNING = 32;

export function createBubblewrap(options: BubblewrapOptions): Sandbox {
  const queue = createQueue(options.maxRunning ?? MAX_RUNNING);
  const steps = createRunSteps(options);
  const stagedRuns = createStagedRuns(steps);
  const isClosed = (): boolean => steps.closing.signal.aborted;
  let preparing: Promise<Result<PreparedSandbox>> | null = null;

  function prepare(): Promise<Result<PreparedSandbox>> {
    preparing ??= setUp(options, (untried) => tryOut(steps, untried)).catch(setupError);
    return preparing;
  }

  async function run(request: RunRequest): Promise<Result<RunResult>> {
    if (isClosed()) return closedFailure();
    if (request.mounts === 'live') return notLive();
    const prepared = await prepare();
    if (!prepared.ok) return prepared;
    const checked = checkRequest(request, privateFolders(prepared.value));
    if (!checked.ok) return checked;
    const sized = checkSize(request, checked.value.limits);
    if (!sized.ok) return sized;
    if (request.network !== undefined && options.dialer === undefined) {
      return fail('NOT_CONFIGURED', 'This sandbox has no way to the network: run it without, or configure a dialer.');
    }
    const access = request.network === undefined ? undefined : options.dialer?.check?.(request.network);
    if (access?.ok === false) return access;
    const leave = await queue.enter(request.signal);
    if (leave === null) return fail('CANCELLED', 'Cancelled before it ran: nothing happened.');
    try {
      if (isClosed()) return closedFailure();
      if (request.mounts === 'staged') return await stagedRuns.run(prepared.value, request, checked.value);
      return await stagedRuns.read(prepared.value, request, checked.value);
    } finally {
      leave();
    }
  }

  async function withStage<T>(
    { workspace: given, stage: folders }: StageQuery,
    use: (prepared: PreparedSandbox, checked: CheckedStage) => Promise<Result<T>>,
  ): Promise<Result<T>> {
    if (isClosed()) return closedFailure();
    const prepared = await prepare();
    if (!prepared.ok) return prepared;
    const request: RunRequest = { command: ['/bin/true'], workspace: given, mounts: 'read', tag: 'compare' };
    const checked = checkRequest(request, privateFolders(prepared.value));
    if (!checked.ok) return checked;
    const { workspace } = checked.value;
    const stage = openStageFiles(folders, workspace, prepared.value.stages.folder);
    if (!stage.ok) return stage;
    return use(prepared.value, { stage: stage.value, workspace, maxChanges: DEFAULT_LIMITS.newFiles });
  }

  function privateFolders({ folder, stages }: PreparedSandbox): readonly string[] {
    return [options.home, folder.path, stages.folder];
  }

  return {
    kind: 'bubblewrap',
    async status() {
      const prepared = await prepare();
      return prepared.ok ? ok(prepared.value.status) : prepared;
    },
    run: (request) => steps.waitFor(run(request)),
    prepare: (workspace) => void steps.waitFor(steps.findHidden(workspace)).catch(() => {}),
    compare: (query) => steps.waitFor(withStage(query, stagedRuns.changesOf)),
    open: (query) => steps.waitFor(withStage(query, stagedRuns.open)),
    async close() {
      steps.closing.abort(CLOSED);
      const prepared = await preparing;
      await steps.drain();
      if (prepared?.ok) await tidy(prepared.value);
    },
  };
}

function notLive(): Result<never> {
  return fail(
    'INVALID_INPUT',
    "This sandbox writes to no live files: use mounts 'read', or 'staged' with a folder for the changes.",
  );
}

function closedFailure(): Result<never> {
  return fail('SANDBOX_UNAVAILABLE', 'The sandbox was closed: Toolwright is shutting down.');
}
