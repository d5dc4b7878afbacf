import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestTree } from '../host/digest-tree.ts';
import { catchErrnoAsync } from '../host/errno.ts';
import { makePrivateFolder } from '../host/private-folder.ts';
import { OWN_PROCESS_ID, stateOfProcess } from '../host/process-identity.ts';
import { removeTree } from '../host/remove-tree.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { FilePolicy } from '../kernel/world/file-policy.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import type { ClassifiedChange, Stage, StagedChanges, StageOwner, StageStore } from '../kernel/world/stage.ts';
import { classifyChanges } from './classify-changes.ts';
import { askGit } from './git-facts.ts';
import { openStage } from './open-stage.ts';
import { repositoryLines } from './repository-lines.ts';
import { repositoryLosses } from './repository-losses.ts';
import { digestOfChanges, readStageFile, type StageFile, writeStageFile } from './stage-file.ts';
import { StagedView } from './staged-view.ts';

export interface StagesOptions {
  readonly sandbox: Sandbox;
  readonly policy: FilePolicy;
  readonly home: string;
}

const MAX_PENDING = 50;
const OWNER = 'owner';

/** Stages of this machine, in the folder that the sandbox names. They survive a restart once their run has ended. */
export function createStages(options: StagesOptions): StageStore {
  const { sandbox, policy, home } = options;
  const known = new Map<string, Stage>();
  let opening: Promise<Result<string>> | undefined;

  /** Where stages are made. Stages whose process ended during the run are removed first. */
  function place(): Promise<Result<string>> {
    opening ??= findPlace();
    return opening;
  }

  async function findPlace(): Promise<Result<string>> {
    const status = await sandbox.status();
    if (!status.ok) return status;
    const { folder } = status.value.stages;
    if (folder === null) return fail('NOT_CONFIGURED', `The sandbox ${sandbox.kind} has no stages.`);
    makePrivateFolder(folder);
    for (const name of readdirSync(folder)) if (isLeftOver(join(folder, name))) removeTree(join(folder, name));
    return ok(folder);
  }

  function all(folder: string): Stage[] {
    return readdirSync(folder).flatMap((id) => load(folder, id) ?? []);
  }

  function load(folder: string, id: string): Stage | undefined {
    const loaded = known.get(id);
    if (loaded !== undefined) return loaded;
    const file = ID.test(id) ? readStageFile(join(folder, id)) : null;
    return file === null ? undefined : remember(file, join(folder, id));
  }

  function remember(file: StageFile, folder: string): Stage {
    const stage = openStage(file, async () => {
      known.delete(file.id);
      removeTree(folder);
    });
    known.set(file.id, stage);
    return stage;
  }

  async function finish(
    folder: string,
    id: string,
    { owner, staged, isPartial }: { owner: StageOwner; staged: StagedChanges; isPartial: boolean },
  ): Promise<Result<Stage | null>> {
    if (staged.changes.length === 0) {
      removeTree(folder);
      return ok(null);
    }
    const { workspace, session, callId, title, allowedBy, wrote } = owner;
    const asked = isPartial ? staged.changes : staged.changes.filter(({ kind }) => kind !== 'created');
    const git = await askGit(
      workspace,
      sandbox,
      asked.map(({ path }) => path),
    );
    const view = new StagedView(workspace, staged);
    const lost = await repositoryLosses({ workspace, changes: staged.changes, view }, sandbox, { folder });
    const changes = await withDigests(
      await classifyChanges(staged, {
        ...{ workspace, policy, home, git, lost, wrote },
      }),
      staged.content,
    );
    const repository = await repositoryLines({ workspace, changes, view }, sandbox, { folder });
    const file: StageFile = {
      ...{ format: 1, id, workspace, session, callId, title, allowedBy, createdAt: Date.now(), isPartial },
      ...{ content: staged.content, repository, changes, digest: digestOfChanges(changes) },
    };
    writeStageFile(folder, file);
    rmSync(join(folder, OWNER), { force: true });
    return ok(remember(file, folder));
  }

  return {
    async begin(owner) {
      const at = await place();
      if (!at.ok) return at;
      if (readdirSync(at.value).length >= MAX_PENDING) return tooMany();
      const id = randomBytes(8).toString('hex');
      const folder = join(at.value, id);
      return orRemoved(folder, async () => {
        mkdirSync(folder, { mode: 0o700 });
        writeFileSync(join(folder, OWNER), OWN_PROCESS_ID, { mode: 0o600 });
        return ok({
          folder: { folder },
          finish: (staged, { isPartial }) => orRemoved(folder, () => finish(folder, id, { owner, staged, isPartial })),
          discard: async () => removeTree(folder),
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

/** A stage that cannot be made or recorded, as on a full disk, is removed: the workspace is as it was. */
async function orRemoved<T>(folder: string, work: () => Promise<Result<T>>): Promise<Result<T>> {
  const done = await catchErrnoAsync('The pending changes of this command', work);
  if (!done.ok) removeTree(folder);
  return done;
}

/** A new folder may be kept as a whole, so its content is bound as a whole. */
async function withDigests(changes: readonly ClassifiedChange[], content: string): Promise<ClassifiedChange[]> {
  const folders = new Set(changes.flatMap((change) => (isNewFolder(change) ? [change.path] : [])));
  return Promise.all(
    changes.map(async (change) => {
      const isTop =
        isNewFolder(change) && !folders.has(change.path.slice(0, Math.max(0, change.path.lastIndexOf('/'))));
      if (!isTop || change.after === null) return change;
      const { digest } = await digestTree(join(content, change.path));
      return { ...change, after: { ...change.after, version: digest } };
    }),
  );
}

function isNewFolder({ kind, after }: ClassifiedChange): boolean {
  return kind === 'created' && after?.type === 'directory';
}

const ID = /^[0-9a-f]{16}$/;

/** A stage whose run was cut off: its process is gone, and its changes were never listed. */
function isLeftOver(folder: string): boolean {
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
    `${MAX_PENDING} commands have pending changes that nobody has kept or discarded. Decide about some first: toolwright changes.`,
  );
}
