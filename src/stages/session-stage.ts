import { Mutex } from '../host/mutex.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { OpenView, Sandbox } from '../kernel/world/sandbox.ts';
import type { SessionStage, StagedChanges } from '../kernel/world/stage.ts';
import { ChangedTimes } from './changed-times.ts';
import { claimStage, releaseStage, type SessionFile } from './session-file.ts';

/** A session stage of this process. */
export interface WorkingStage extends SessionStage {
  /** The titles of the runs that stand on it. */
  runTitles(): readonly string[];
  /** Closes the view when nobody uses it any more; nothing is written from then on. */
  end(): Promise<Result<void>>;
  /** Takes `end` back. */
  goOn(): void;
  /** Takes the mark `overtaken` off changes of paths that the host changed only before the stage did. */
  unmarkEarlierEdits(staged: StagedChanges): StagedChanges;
  /** The folder that it stands on: the workspace, or the view of another stage. */
  base(): string;
  close(): void;
}

export interface SessionStageOptions {
  readonly sandbox: Sandbox;
  readonly file: SessionFile;
  /** The stage that this one stands on. */
  readonly onto: WorkingStage | undefined;
}

/** The kernel sees some changes of the host to the lower layer of an overlay only in a new mount. */
const MAX_AGE_MS = 1000;

export function openSessionStage({ sandbox, file, onto }: SessionStageOptions): WorkingStage {
  const { format: _format, folder, ...about } = file;
  const layers = { folder, ...(onto && { below: layersOf(onto) }) };
  const times = new ChangedTimes(folder);
  const oneByOne = new Mutex();
  const holds = new Set<{ readonly title: string }>();
  let view: OpenView | null = null;
  let openedAt = 0;
  let users = 0;
  let hasEnded = false;
  let whenIdle = () => {};

  async function mountFresh(): Promise<Result<void>> {
    if (hasEnded) return beingDecided();
    const claimed = claim();
    if (!claimed.ok) return claimed;
    const below = await onto?.prepare();
    if (below?.ok === false) return below;
    const isFresh = view !== null && (users > 0 || performance.now() - openedAt < MAX_AGE_MS);
    if (isFresh) return ok(undefined);
    const opened = await sandbox.open({ workspace: file.workspace, stage: layers });
    if (!opened.ok) return opened;
    // Somebody may have begun to use the old one meanwhile.
    if (users > 0 || hasEnded) {
      opened.value.close();
      return hasEnded ? beingDecided() : ok(undefined);
    }
    // Replaced first: nobody may use a descriptor that is closed.
    const old = view;
    view = opened.value;
    openedAt = performance.now();
    old?.close();
    return ok(undefined);
  }

  function close(): void {
    const old = view;
    view = null;
    old?.close();
    releaseStage(folder);
  }

  function claim(): Result<void> {
    const claimed = claimStage(folder);
    if (claimed === 'ours') return ok(undefined);
    if (claimed === 'elsewhere') return usedElsewhere(file.session);
    return fail('FILE_NOT_FOUND', `The collected changes of ${file.session} are not there any more.`);
  }

  return {
    ...about,
    folder: layers,
    fd,
    path: () => `/proc/self/fd/${fd()}/.`,
    prepare: () => oneByOne.run(mountFresh),
    async use(work) {
      if (view === null) {
        const prepared = await oneByOne.run(mountFresh);
        if (!prepared.ok) return prepared;
      }
      if (hasEnded) return beingDecided();
      users++;
      try {
        return await work();
      } finally {
        users--;
        if (users === 0) whenIdle();
      }
    },
    note: (paths) => times.note(paths),
    hold(title) {
      const hold = { title };
      holds.add(hold);
      return () => void holds.delete(hold);
    },
    runTitles: () => [...holds].map(({ title }) => title),
    async end() {
      const claimed = claim();
      if (!claimed.ok) return claimed;
      hasEnded = true;
      if (users > 0) {
        const idle = Promise.withResolvers<void>();
        whenIdle = idle.resolve;
        await idle.promise;
      }
      await oneByOne.run(async () => close());
      return ok(undefined);
    },
    goOn() {
      hasEnded = false;
    },
    unmarkEarlierEdits: ({ changes, content }) => ({ changes: times.unmarkEarlierEdits(changes, base()), content }),
    base,
    close,
  };

  function fd(): number {
    return view?.fd ?? -1;
  }

  function base(): string {
    return onto?.path() ?? file.workspace;
  }
}

/** The folders that a run in this stage stands on, nearest first. */
export function layersOf({ folder }: SessionStage): readonly string[] {
  return [folder.folder, ...(folder.below ?? [])];
}

function beingDecided(): Result<never> {
  return fail('CONFLICT', 'The changes of this session are being decided about: call again.');
}

function usedElsewhere(session: string): Result<never> {
  return fail('CONFLICT', `Another process works on the changes of ${session}: use its page or terminal, or stop it.`);
}
