import { setMaxListeners } from 'node:events';
import { relative } from 'node:path';
import type { Failure } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { isMounted, type ProtectedPath, unreadableError } from '../../kernel/world/protected-path.ts';
import { DEFAULT_LIMITS, type RunRequest, type RunResult, type Sandbox } from '../../kernel/world/sandbox.ts';
import { findChanges, type Names } from '../protected-paths/find-changes.ts';
import { blockedNames, holdPlaceholders, isPlaceholder } from '../protected-paths/placeholders.ts';
import { disarmNewFiles } from '../protected-paths/privileged-files.ts';
import { isFreshSince, type Memory, remember, type Swept, sweep } from '../protected-paths/quarantine-planted.ts';
import { named, toldOf } from '../protected-paths/report.ts';
import { createTreeScan, type ScanResult } from '../protected-paths/tree-scan.ts';
import { createQueue } from '../queue.ts';
import { type CheckedRequest, checkRequest } from '../request.ts';
import { checkSize } from '../request-size.ts';
import { endMessage } from '../run/end-message.ts';
import { CLOSED } from '../run/supervise.ts';
import { type ProcessEnd, runProcess } from './bubblewrap-process.ts';
import { type BubblewrapOptions, type PreparedSandbox, setUp, setupError, tidy } from './bubblewrap-setup.ts';
import { explainFailure } from './detect.ts';
import { countMounts, isMasked, runArguments, workspaceMounts } from './mounts.ts';
import { MOVED } from './verify-mounts.ts';

/**
 * The sandbox of Linux. One run: check the request → wait for a place → find the paths to hide and protect → run the process
 * among its mounts → quarantine files that it planted → list its changes.
 */

const DEFAULTS = { maxRunning: 32, changesCapMs: 500 };
/** Each path takes a mount, and bubblewrap reads all mounts for each: a thousand take seconds, and it refuses three thousand. */
const MAX_MOUNTS = 1_000;
/** A file may be removed or moved between the scan and the mount; then the scan is repeated. */
const ATTEMPTS = 3;

function isTransient({ message }: Failure): boolean {
  return (
    message === MOVED || /No such file or directory|Can't (?:bind mount|find source path|create file)/.test(message)
  );
}

export function createBubblewrap(given: BubblewrapOptions): Sandbox {
  const options = { ...DEFAULTS, ...given };
  const queue = createQueue(options.maxRunning);
  const scan = createTreeScan(options.filePolicy, options.home);
  const blocked = blockedNames(options.filePolicy.rules);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  /** Runs and removals that closing has to wait for. */
  const pending = new Set<Promise<unknown>>();
  let preparing: Promise<Result<PreparedSandbox>> | null = null;

  function prepare(): Promise<Result<PreparedSandbox>> {
    preparing ??= setUp(options, (prepared) => tryOut(prepared)).catch(setupError);
    return preparing;
  }

  /** Runs an empty command, so that a missing requirement is known before the first real one. */
  async function tryOut(prepared: PreparedSandbox): Promise<Result<unknown>> {
    const workspace = prepared.folder.path;
    const request: RunRequest = { command: ['/bin/sh', '-c', ':'], workspace, mounts: 'read', tag: 'status' };
    const ran = await start(prepared, request, { workspace, alias: null, cwd: '/', limits: DEFAULT_LIMITS }, []);
    if (!ran.ok || ran.value.exitCode === 0) return ran;
    return explainFailure(Buffer.from(ran.value.supervised.output.stderr.head).toString());
  }

  async function run(request: RunRequest): Promise<Result<RunResult>> {
    if (closing.signal.aborted) return closedFailure();
    const prepared = await prepare();
    if (!prepared.ok) return prepared;
    const checked = checkRequest(request, [options.home, prepared.value.folder.path]);
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
      return closing.signal.aborted ? closedFailure() : await runChecked(prepared.value, request, checked.value);
    } finally {
      leave();
    }
  }

  async function runChecked(
    prepared: PreparedSandbox,
    request: RunRequest,
    checked: CheckedRequest,
  ): Promise<Result<RunResult>> {
    const { workspace, limits } = checked;
    const live = request.mounts === 'live';
    for (let attempt = 1; ; attempt++) {
      const { found, names } = await findIn(workspace);
      if (countMounts(request.mounts, found) > MAX_MOUNTS) return tooManyFiles(workspace, found.filter(isMounted));
      const failed = found.find(({ because }) => because === 'failed');
      if (failed !== undefined) return unreadableError(workspace, failed);
      const unnameable = found.find(({ because }) => because === 'unnameable');
      if (unnameable !== undefined) return invalidNameError(workspace, unnameable);
      const before: Names = live ? names() : new Map();
      const memory: Memory = live ? await remember(workspace, found) : new Map();
      const startedAtMs = Date.now();
      const ran = await start(prepared, request, checked, found);
      if (!ran.ok && attempt < ATTEMPTS && isTransient(ran.error)) continue;
      // Also after a failed run: it is not known how far it came.
      const { after, ...swept } = live ? await sweepAll({ workspace, found, memory, before }) : NOTHING_SWEPT;
      if (!ran.ok) return withSwept(ran.error, swept);
      const { supervised, networkDropped, exposed, ...end } = ran.value;
      const { told, notes } = toldOf(swept.quarantined);
      return ok({
        ...end,
        endMessage: end.endedBy === null ? null : endMessage(end.endedBy, limits),
        durationMs: supervised.durationMs,
        output: supervised.output,
        changes:
          live && request.changes === 'report'
            ? await findChanges({ workspace, before, after, startedAtMs, capMs: options.changesCapMs })
            : null,
        quarantined: told,
        sandbox: 'bubblewrap',
        notes: [
          ...notes,
          ...notesOn({ left: swept.left, exposed: exposed.map((each) => relative(workspace, each)), networkDropped }),
        ],
      });
    }
  }

  async function sweepAll(given: {
    workspace: string;
    found: readonly ProtectedPath[];
    memory: Memory;
    before: Names;
  }): Promise<SweptAll> {
    const { workspace } = given;
    const isFresh = isFreshSince(workspace, given.memory);
    const scanned = await findIn(workspace, isFresh);
    const first = await sweep(workspace, given.found, scanned.found, given.memory);
    // A renamed folder may contain more to find.
    const isRenamed = scanned.found.some(({ because }) => because === 'unnameable');
    const again = isRenamed ? await findIn(workspace, isFresh) : null;
    const second = again === null ? NOTHING_SWEPT : await sweep(workspace, given.found, again.found, given.memory);
    const after = (again ?? scanned).names();
    const disarmed = await disarmNewFiles(workspace, given.before, after);
    return {
      after,
      quarantined: [first, second, disarmed].flatMap((each) => each.quarantined),
      left: [first, second, disarmed].flatMap((each) => each.left),
    };
  }

  /** Scans the workspace, without the placeholders of running commands. */
  async function findIn(workspace: string, isFresh?: (hidden: ProtectedPath) => boolean): Promise<ScanResult> {
    const { found, names } = await scan.find(workspace, isFresh);
    const isOurs = ({ path, rule }: ProtectedPath): boolean =>
      rule?.missing === 'block' && isPlaceholder(`${workspace}/${path}`);
    return { found: found.filter((each) => !isOurs(each)), names };
  }

  async function start(
    prepared: PreparedSandbox,
    request: RunRequest,
    { workspace, alias, cwd, limits }: CheckedRequest,
    found: readonly ProtectedPath[],
  ): Promise<Result<ProcessEnd>> {
    const { folder } = prepared;
    const held = request.mounts === 'live' ? holdPlaceholders(workspace, blocked, folder.path) : null;
    const placeholders = held?.names ?? [];
    if (held !== null && held.open.length > 0) {
      held.release();
      return placeholderError(workspace, held.open);
    }
    const inWorkspace = workspaceMounts({ folder, workspace, mode: request.mounts, found, placeholders });
    const mounts = {
      ...{ folder, workspace, alias, mode: request.mounts, limits, inWorkspace },
      toolchains: prepared.readOnlyFolders,
      toolchainSecrets: prepared.toolchains.hidden(),
    };
    const absolute = (path: string): string => `${workspace}/${path}`;
    const ended = runProcess({
      ...{ bwrap: prepared.bwrap, launchers: prepared.launchers, pipes: prepared.pipes },
      ...{ folder: folder.path, path: prepared.toolchains.path },
      ...{ request, workspace, cwd, limits, dialer: options.dialer },
      system: prepared.systemArguments,
      mounts: runArguments(mounts),
      inWorkspace,
      etc: folder.etc,
      hidden: found.filter(isMasked).map(({ path }) => absolute(path)),
      blocked: placeholders.map(absolute),
      signals: request.signal === undefined ? [closing.signal] : [request.signal, closing.signal],
      onRemoval: waitFor,
    });
    try {
      return await ended;
    } finally {
      held?.release();
    }
  }

  function waitFor(promise: Promise<unknown>): void {
    pending.add(promise);
    const done = () => pending.delete(promise);
    promise.then(done, done);
  }

  return {
    kind: 'bubblewrap',
    async status() {
      const prepared = await prepare();
      return prepared.ok ? ok(prepared.value.status) : prepared;
    },
    run(request) {
      const running = run(request);
      waitFor(running);
      return running;
    },
    async close() {
      closing.abort(CLOSED);
      const prepared = await preparing;
      while (pending.size > 0) await Promise.allSettled([...pending]);
      if (prepared?.ok) await tidy(prepared.value);
    },
  };
}

function withSwept(error: Failure, { quarantined }: Swept): Result<never> {
  if (quarantined.length === 0) return { ok: false, error };
  const planted = named(quarantined.map(({ path }) => path));
  return {
    ok: false,
    error: { ...error, message: `${error.message} ${planted} was put aside: the host would obey it.` },
  };
}

/** The result of a sweep, with the names that it saw. */
interface SweptAll extends Swept {
  readonly after: Names;
}

const NOTHING_SWEPT: SweptAll = { quarantined: [], left: [], after: new Map() };

function notesOn(given: { left: readonly string[]; exposed: readonly string[]; networkDropped: number }): string[] {
  const { left, exposed, networkDropped } = given;
  const seen = `While it ran ${named(exposed)} was replaced, and the run may have seen or written the new file.`;
  const planted = `The run left ${named(left)}, which the host might obey and which could not be put aside: look at it before you use git, an editor or a program there.`;
  return [
    ...(exposed.length === 0 ? [] : [seen]),
    ...(left.length === 0 ? [] : [planted]),
    ...(networkDropped === 0 ? [] : [`${networkDropped} more connections are not in the network record.`]),
  ];
}

function tooManyFiles(workspace: string, found: readonly ProtectedPath[]): Result<never> {
  const example = found.at(-1)?.path ?? '';
  return fail(
    'SANDBOX_UNAVAILABLE',
    `${workspace} has ${found.length} files to hide or protect, such as ${example}; they and the folders above them may be ${MAX_MOUNTS}. ` +
      'Add a rule that hides their folder, or one that says that they are no secrets.',
  );
}

function placeholderError(workspace: string, names: readonly string[]): Result<never> {
  return fail(
    'SANDBOX_UNAVAILABLE',
    `Nothing could be put at ${names.map((name) => `${workspace}/${name}`).join(', ')}, so that a run could create it. Check that its disk has room and that its user may write there.`,
  );
}

function invalidNameError(workspace: string, { path }: ProtectedPath): Result<never> {
  return fail(
    'SANDBOX_UNAVAILABLE',
    `${workspace}/${path} has a name that is not valid UTF-8, so that nothing in it can be hidden or protected: rename it.`,
  );
}

function closedFailure(): Result<never> {
  return fail('SANDBOX_UNAVAILABLE', 'The sandbox was closed: Toolwright is shutting down.');
}
