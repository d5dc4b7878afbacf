import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { catchErrnoAsync } from '../host/errno.ts';
import { statOf } from '../host/files.ts';
import { makePrivateFolder } from '../host/private-folder.ts';
import { removeTree } from '../host/remove-tree.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { SessionStage, SessionStageOwner, SessionStages, Stage, StagedChanges } from '../kernel/world/stage.ts';
import { describeStage, type StageJudges } from './describe-stage.ts';
import { openStage } from './open-stage.ts';
import { readSessionFiles, removeSessionFile, type SessionFile, writeSessionFile } from './session-file.ts';
import { openSessionStage, type WorkingStage } from './session-stage.ts';
import { readStageFile, type StageFile, writeStageFile } from './stage-file.ts';

/** For a person who is asked about all that a session changed. */
const TITLE = 'All changes of the session';

export interface SessionStagesOptions extends StageJudges {
  /** Where it is noted which sessions have one. */
  readonly stateDir: string;
}

/** Stages that sessions keep over several calls, in the folder of all stages. Those of earlier processes go on. */
export function openSessionStages(options: SessionStagesOptions): SessionStages {
  const { sandbox } = options;
  const notes = join(options.stateDir, 'sessions');
  const working = new Map<string, WorkingStage>();
  let readAtMs: number | undefined;
  refresh();

  function refresh(): void {
    const changedAtMs = statOf(notes)?.mtimeMs;
    if (changedAtMs === readAtMs) return;
    readAtMs = changedAtMs;
    const files = readSessionFiles(notes).filter(({ folder }) => existsSync(folder));
    const ids = new Set(files.map(({ id }) => id));
    for (const stage of [...working.values()].filter(({ id }) => !ids.has(id))) forget(stage);
    for (const file of files) if (find(file.workspace, file.session)?.id !== file.id) take(file);
  }

  async function folderOfStages(): Promise<Result<string>> {
    const status = await sandbox.status();
    if (!status.ok) return status;
    const { folder } = status.value.stages;
    const why = `The sandbox ${sandbox.kind} stages nothing, so no session can collect its changes.`;
    return folder === null ? fail('NOT_CONFIGURED', why) : ok(folder);
  }

  function take(file: SessionFile): WorkingStage {
    const { workspace, session, onto } = file;
    const stage = openSessionStage({ sandbox, file, onto: onto === null ? undefined : find(workspace, onto) });
    working.set(keyOf(workspace, session), stage);
    return stage;
  }

  function find(workspace: string, session: string): WorkingStage | undefined {
    return working.get(keyOf(workspace, session));
  }

  async function begin(owner: SessionStageOwner): Promise<Result<SessionStage>> {
    const { workspace, session, onto } = owner;
    if (find(workspace, session) !== undefined) return fail('CONFLICT', `${session} collects its changes already.`);
    if (onto !== null && find(workspace, onto) === undefined) {
      return fail('FILE_NOT_FOUND', `${onto} does not collect its changes, so none can stand on them: begin with it.`);
    }
    const place = await folderOfStages();
    if (!place.ok) return place;
    const id = randomBytes(8).toString('hex');
    const folder = join(place.value, id);
    const file: SessionFile = {
      ...{ format: 1, id, workspace, session, onto, callId: owner.callId, createdAt: Date.now(), folder },
    };
    const begun = await catchErrnoAsync('The changes of this session', async () => {
      makePrivateFolder(place.value);
      makePrivateFolder(notes);
      mkdirSync(folder, { mode: 0o700 });
      writeSessionFile(notes, file);
      return take(file).prepare();
    });
    const stage = find(workspace, session);
    if (begun.ok && stage !== undefined) return ok(stage);
    if (stage !== undefined) forget(stage);
    removeSessionFile(notes, id);
    removeTree(folder);
    return begun.ok ? over(session) : begun;
  }

  function forget(stage: WorkingStage): void {
    stage.close();
    working.delete(keyOf(stage.workspace, stage.session));
    removeSessionFile(notes, stage.id);
  }

  async function describe(stage: WorkingStage, staged: StagedChanges): Promise<StageFile> {
    const { workspace, session, callId, onto, folder } = stage;
    const standsOn = onto === null ? undefined : find(workspace, onto);
    const about = { workspace, session, callId, title: TITLE, allowedBy: null, standsOn };
    const owner = { ...about, wrote: () => false };
    const listed = { folder: folder.folder, owner, staged: stage.judged(staged), isPartial: false };
    return { ...(await describeStage(options, listed)), isOfSession: true };
  }

  async function review({ workspace, session }: SessionStage): Promise<Result<Stage | null>> {
    const stage = find(workspace, session);
    if (stage === undefined) return over(session);
    const staged = await stage.use(() => sandbox.compare({ workspace, stage: stage.folder }));
    if (!staged.ok) return staged;
    if (staged.value.changes.length === 0) return ok(null);
    const file = await describe(stage, staged.value);
    const seen = openStage(file, { discard: endFirst, kept: endFirst, before: () => stage.base() });
    return ok({ ...seen, createdAt: stage.createdAt, isCollecting: true });
  }

  async function end({ workspace, session }: SessionStage): Promise<Result<boolean>> {
    const stage = find(workspace, session);
    if (stage === undefined) return over(session);
    const above = standingOn(stage);
    if (above.length > 0) {
      return fail(
        'CONFLICT',
        `These stand on the changes of ${session}: ${above.join(', ')}. End or decide about them first.`,
      );
    }
    const closed = await stage.end();
    if (!closed.ok) return closed;
    const { folder } = stage.folder;
    const listed = await catchErrnoAsync('The changes of this session', async () => {
      const staged = await sandbox.compare({ workspace, stage: stage.folder });
      if (staged.ok && staged.value.changes.length > 0) writeStageFile(folder, await describe(stage, staged.value));
      return staged;
    });
    if (!listed.ok) {
      stage.goOn();
      return listed;
    }
    forget(stage);
    const hasChanges = listed.value.changes.length > 0;
    if (!hasChanges) removeTree(folder);
    return ok(hasChanges);
  }

  /** Sessions, running commands and pending changes that stand on a stage. */
  function standingOn(stage: WorkingStage): string[] {
    const { workspace, session } = stage;
    const sessions = [...working.values()].filter((each) => each.workspace === workspace && each.onto === session);
    const stages = dirname(stage.folder.folder);
    const pending = readdirSync(stages)
      .flatMap((id) => readStageFile(join(stages, id)) ?? [])
      .filter((each) => each.workspace === workspace && each.standsOn === session);
    return [
      ...sessions.map((each) => `session ${each.session}`),
      ...stage.held().map((title) => `the command ${title}`),
      ...pending.map(({ id, title }) => `the pending changes ${id} of ${title}`),
    ];
  }

  return {
    begin,
    of: find,
    refresh,
    list: (workspace) => [...working.values()].filter((each) => each.workspace === workspace),
    review,
    end,
    close() {
      for (const stage of working.values()) stage.close();
    },
  };
}

function keyOf(workspace: string, session: string): string {
  return `${workspace}\0${session}`;
}

function over(session: string): Result<never> {
  return fail('FILE_NOT_FOUND', `${session} does not collect its changes, or they were decided about.`);
}

async function endFirst(): Promise<never> {
  throw new Error('changes that are still collected were decided about');
}
