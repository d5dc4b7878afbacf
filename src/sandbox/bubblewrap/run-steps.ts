import { setMaxListeners } from 'node:events';
import { linkedRepository } from '../../git/linked-worktree.ts';
import { readText, realPath } from '../../host/files.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { isMasked, type ProtectedPath, unreadableError } from '../../kernel/world/protected-path.ts';
import { DEFAULT_LIMITS, type RunRequest, type RunResult } from '../../kernel/world/sandbox.ts';
import { maskNotes, waitMessage, watchNotes } from '../protected-paths/mask-notes.ts';
import { createTreeScan } from '../protected-paths/tree-scan.ts';
import type { CheckedRequest } from '../request.ts';
import { endMessage } from '../run/end-message.ts';
import { type ProcessEnd, runProcess } from './bubblewrap-process.ts';
import type { BubblewrapOptions, PreparedSandbox, UntriedSandbox } from './bubblewrap-setup.ts';
import { refreshIdentity } from './etc-files.ts';
import { innerMounts } from './inner-mounts.ts';
import { runArguments } from './mounts.ts';
import type { PreparedView, ViewOptions } from './prepared-view.ts';

/** The steps that every run of one sandbox is made of. */
export interface RunSteps {
  readonly options: BubblewrapOptions;
  /** Aborted when the sandbox is closed. */
  readonly closing: AbortController;
  /** Finds the paths to lay masks over. A folder whose content is unknown stops the run. `onWait` hears what it waits for. */
  findHidden(workspace: string, onWait?: RunRequest['onWait']): Promise<Result<readonly ProtectedPath[]>>;
  /** The notes of a run about the files that were hidden from it. */
  notesOf(hidden: readonly ProtectedPath[], ended: ProcessEnd): readonly string[];
  viewOptions(prepared: PreparedSandbox, workspace: string, hidden: readonly ProtectedPath[]): ViewOptions;
  /** Runs a process in a view. */
  start(prepared: UntriedSandbox, request: RunRequest, plan: RunPlan): Promise<Result<ProcessEnd>>;
  /** Closing waits for it. */
  waitFor<T>(promise: Promise<T>): Promise<T>;
  /** Ends when nothing is left to wait for. */
  drain(): Promise<void>;
}

export interface RunPlan {
  readonly checked: CheckedRequest;
  readonly view: PreparedView;
}

/** A request for a command of our own: it needs no check. */
export function ownRequestIn(workspace: string): CheckedRequest {
  return { workspace, alias: null, cwd: workspace, limits: DEFAULT_LIMITS };
}

export function createRunSteps(options: BubblewrapOptions): RunSteps {
  const scan = createTreeScan({ ...options, purpose: 'hidden' });
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const pending = new Set<Promise<unknown>>();

  function waitFor<T>(promise: Promise<T>): Promise<T> {
    pending.add(promise);
    const done = () => pending.delete(promise);
    promise.then(done, done);
    return promise;
  }

  return {
    options,
    closing,
    waitFor,
    async drain() {
      while (pending.size > 0) await Promise.allSettled([...pending]);
      scan.close();
    },
    notesOf: (hidden, { supervised }) => [
      ...maskNotes(options.filePolicy, { hidden, output: supervised.output }),
      ...watchNotes(scan.unwatched),
    ],
    async findHidden(workspace, onWait) {
      const found = await scan.find(workspace, (filesLeft) => onWait?.(waitMessage(filesLeft)));
      const failed = found.find(({ because }) => because === 'failed');
      if (failed !== undefined) return unreadableError(workspace, failed);
      const unnameable = found.find(({ because }) => because === 'unnameable');
      return unnameable === undefined ? ok(found.filter(isMasked)) : invalidNameError(workspace, unnameable);
    },
    viewOptions(prepared, workspace, hidden) {
      const program = innerMounts(workspace).length > 0 ? null : prepared.stages.program;
      return { folder: prepared.folder, workspace, hidden, program };
    },
    start(prepared, request, { checked, view }) {
      const { folder } = prepared;
      const { workspace, alias, cwd, limits } = checked;
      refreshIdentity(folder.etc, options.home);
      const linked = linkedRepository(workspace, { read: (file) => readText(file) ?? '', realPath });
      const mounts = {
        ...{ folder, workspace, alias, limits, inWorkspace: view.mounts },
        readOnlyFolders: linked === null ? prepared.readOnlyFolders : [...prepared.readOnlyFolders, linked],
        toolchainSecrets: prepared.toolchains.hidden(),
      };
      return runProcess({
        ...{ bwrap: prepared.bwrap, launchers: prepared.launchers, pipes: prepared.pipes },
        ...{ folder: folder.path, path: prepared.toolchains.path, variables: prepared.toolchains.variables },
        ...{ request, workspace, cwd, limits, dialer: options.dialer },
        system: prepared.systemArguments,
        mounts: runArguments(mounts),
        etc: folder.etc,
        view,
        signals: request.signal === undefined ? [closing.signal] : [request.signal, closing.signal],
        onRemoval: waitFor,
      });
    },
  };
}

export function resultOf(
  { supervised, networkDropped, ...end }: ProcessEnd,
  { limits }: CheckedRequest,
  { staged, notes }: Pick<RunResult, 'staged' | 'notes'>,
): RunResult {
  const dropped = networkDropped === 0 ? [] : [`${networkDropped} more connections are not in the network record.`];
  return {
    ...end,
    endMessage: end.endedBy === null ? null : endMessage(end.endedBy, limits, supervised.durationMs),
    durationMs: supervised.durationMs,
    output: supervised.output,
    staged,
    sandbox: 'bubblewrap',
    notes: [...notes, ...dropped],
  };
}

/** Whether no overlay could be mounted over this workspace. */
export function isOverlayRefused(result: Result<unknown>): boolean {
  return !result.ok && result.error.details?.['refused'] === 'overlay';
}

function invalidNameError(workspace: string, { path }: ProtectedPath): Result<never> {
  return fail(
    'SANDBOX_UNAVAILABLE',
    `${workspace}/${path} has a name that is not valid UTF-8, so that nothing in it can be hidden: rename it.`,
  );
}
