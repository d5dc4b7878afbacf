import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { catchErrno, catchErrnoAsync } from '../host/errno.ts';
import { makePrivateFolder } from '../host/private-folder.ts';
import { OWN_PROCESS_ID, stateOfProcess } from '../host/process-identity.ts';
import { removeTree } from '../host/remove-tree.ts';
import { failpoint } from '../kernel/failpoint.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import type {
  SessionStage,
  SessionStages,
  Stage,
  StagedChanges,
  StageOwner,
  StageStore,
} from '../kernel/world/stage.ts';
import { describeStage, type StageJudges } from './describe-stage.ts';
import { openStage } from './open-stage.ts';
import { layersOf } from './session-stage.ts';
import {
  isRemovedStage,
  readStageFile,
  removeStage,
  type StageFile,
  versionOfStageFile,
  writeStageFile,
} from './stage-file.ts';
import { type KeptStage, tellOthers } from './tell-others.ts';

const MAX_PENDING = 50;
const OWNER = 'owner';

export interface StagesOptions extends StageJudges {
  /** Sessions that collect their changes. Left out: there is none. */
  readonly sessions?: Pick<SessionStages, 'of'>;
  /** The paths that were changed when a stage was kept; empty when it was not. Left out: not known. */
  keptPaths?(workspace: string, id: string): readonly string[];
}

/** A stage as it was read last. Another process may have removed it since, or written a note to its file. */
interface KnownStage {
  readonly stage: Stage;
  readonly fileVersion: string | null;
}

interface EndedRun {
  readonly staged: StagedChanges;
  readonly isPartial: boolean;
}

/** Stages of this machine, in the folder that the sandbox names. They survive a restart once their run has ended. */
export function createStages(options: StagesOptions): StageStore {
  const { sandbox, sessions } = options;
  const known = new Map<string, KnownStage>();
  let opening: Promise<Result<string>> | undefined;

  function place(): Promise<Result<string>> {
    opening ??= findPlace(sandbox);
    return opening;
  }

  function all(folder: string): Stage[] {
    const ids = readdirSync(folder);
    // Loading a stage that was kept writes to the files of others, so all are loaded before any is returned.
    for (const id of ids) load(folder, id);
    return ids.flatMap((id) => load(folder, id) ?? []);
  }

  function load(folder: string, id: string): Stage | undefined {
    if (!ID.test(id)) return undefined;
    const at = join(folder, id);
    const fileVersion = versionOfStageFile(at);
    const loaded = known.get(id);
    if (loaded?.fileVersion === fileVersion) return loaded.stage;
    known.delete(id);
    const file = readStageFile(at);
    if (file === null) return undefined;
    // The process that kept them ended before it could say so.
    const kept = options.keptPaths?.(file.workspace, id) ?? [];
    if (kept.length === 0) return remember(file, at, fileVersion);
    removeKept(at, { kept: file, paths: kept });
    return undefined;
  }

  function remember(file: StageFile, folder: string, fileVersion: string | null): Stage {
    const discard = async (): Promise<void> => {
      known.delete(file.id);
      removeStage(folder);
    };
    const stage = openStage(file, {
      discard,
      async kept(paths) {
        failpoint('stage.keeping');
        known.delete(file.id);
        removeKept(folder, { kept: file, paths });
      },
      // Of a base that has ended nothing can be shown; the workspace is another one.
      before: () => (file.standsOn === null ? file.workspace : (baseOf(file)?.path() ?? join(folder, 'no-base'))),
    });
    known.set(file.id, { stage, fileVersion });
    return stage;
  }

  /** The session stage that its changes stand on, while there is one. */
  function baseOf({ workspace, standsOn }: Pick<Stage, 'workspace' | 'standsOn'>): SessionStage | undefined {
    return standsOn === null ? undefined : sessions?.of(workspace, standsOn);
  }

  async function finish(
    folder: string,
    { owner, staged, isPartial }: EndedRun & { readonly owner: StageOwner },
  ): Promise<Result<Stage | null>> {
    if (staged.changes.length === 0) {
      removeStage(folder);
      return ok(null);
    }
    const file = await describeStage(options, { folder, owner, staged, isPartial });
    writeStageFile(folder, file);
    rmSync(join(folder, OWNER), { force: true });
    return ok(remember(file, folder, versionOfStageFile(folder)));
  }

  return {
    async begin(owner) {
      const at = await place();
      if (!at.ok) return at;
      if (readdirSync(at.value).length >= MAX_PENDING) return tooMany();
      const id = randomBytes(8).toString('hex');
      const folder = join(at.value, id);
      return removeOnFailure(folder, async () => {
        mkdirSync(folder, { mode: 0o700 });
        writeFileSync(join(folder, OWNER), OWN_PROCESS_ID, { mode: 0o600 });
        const release = owner.standsOn?.hold(owner.title) ?? (() => {});
        const end = (ended: EndedRun) => removeOnFailure(folder, () => finish(folder, { owner, ...ended }));
        return ok({
          folder: { folder, ...(owner.standsOn && { below: layersOf(owner.standsOn) }) },
          finish: (staged, { isPartial }) => end({ staged, isPartial }).finally(release),
          async discard() {
            try {
              removeStage(folder);
            } finally {
              release();
            }
          },
        });
      });
    },
    async find(id, { session, workspace }) {
      const at = await place();
      if (!at.ok) return at;
      const stage = load(at.value, id);
      if (stage === undefined) {
        return fail('FILE_NOT_FOUND', 'These changes are no longer pending: they were kept or discarded before.');
      }
      if (stage.session !== session || stage.workspace !== workspace) {
        return fail('PERMISSION_DENIED', 'These pending changes belong to another session or workspace.');
      }
      await baseOf(stage)?.prepare();
      return ok(stage);
    },
    async list({ session, workspace }) {
      const at = await place();
      if (!at.ok) return [];
      return all(at.value)
        .filter((stage) => session === undefined || stage.session === session)
        .filter((stage) => workspace === undefined || stage.workspace === workspace)
        .toSorted((a, b) => a.createdAt - b.createdAt);
    },
  };
}

/** Where stages are made. Stages whose process ended during the run are removed first. */
async function findPlace(sandbox: Sandbox): Promise<Result<string>> {
  const status = await sandbox.status();
  if (!status.ok) return status;
  const { folder } = status.value.stages;
  if (folder === null)
    return fail('NOT_CONFIGURED', `The sandbox ${sandbox.kind} has no private view of the workspace.`);
  makePrivateFolder(folder);
  for (const name of readdirSync(folder)) if (isLeftOver(join(folder, name))) removeTree(join(folder, name));
  return ok(folder);
}

/** Runs a step that makes or records a stage, and removes the stage if it fails, as on a full disk: the workspace is as it was. */
async function removeOnFailure<T>(folder: string, work: () => Promise<Result<T>>): Promise<Result<T>> {
  const done = await catchErrnoAsync('The pending changes of this command', work);
  if (!done.ok) removeStage(folder);
  return done;
}

const ID = /^[0-9a-f]{16}$/;

/** A stage that was being removed, or one whose run was cut off: its process is gone, and its changes were never listed. A session goes on in its own. */
function isLeftOver(folder: string): boolean {
  if (isRemovedStage(folder)) return true;
  if (readStageFile(folder) !== null) return false;
  try {
    return stateOfProcess(readFileSync(join(folder, OWNER), 'utf8')) === 'gone';
  } catch {
    return false;
  }
}

function tooMany(): Result<never> {
  return fail(
    'TOO_LARGE',
    `There are ${MAX_PENDING} commands and sessions with changes that nobody has kept or discarded. Decide about some first: toolwright changes.`,
  );
}

/** Removes a stage whose changes are in the workspace, so that nothing here may look like a failure. */
function removeKept(folder: string, given: KeptStage): void {
  // First, so that a kill in between leaves it to be told again.
  catchErrno(folder, () => ok(tellOthers(dirname(folder), given)));
  catchErrno(folder, () => {
    removeStage(folder);
    return ok(undefined);
  });
}
