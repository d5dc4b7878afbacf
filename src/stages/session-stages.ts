import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { catchErrnoAsync } from '../host/errno.ts';
import { statOf } from '../host/files.ts';
import { makePrivateFolder } from '../host/private-folder.ts';
import { removeTree } from '../host/remove-tree.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { SessionStage, SessionStageOwner, SessionStages, Stage } from '../kernel/world/stage.ts';
import { describeCollected, listForGood, standingOn } from './collected-stage.ts';
import type { StageJudges } from './describe-stage.ts';
import { openStage } from './open-stage.ts';
import { readSessionFiles, removeSessionFile, type SessionFile, writeSessionFile } from './session-file.ts';
import { openSessionStage, type WorkingStage } from './session-stage.ts';

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
    const { workspace, session } = file;
    const stage = openSessionStage({ sandbox, file, onto: below(file) });
    working.set(keyOf(workspace, session), stage);
    return stage;
  }

  function find(workspace: string, session: string): WorkingStage | undefined {
    return working.get(keyOf(workspace, session));
  }

  function below({ workspace, onto }: Pick<SessionFile, 'workspace' | 'onto'>): WorkingStage | undefined {
    return onto === null ? undefined : find(workspace, onto);
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

  async function review({ workspace, session }: SessionStage): Promise<Result<Stage | null>> {
    const stage = find(workspace, session);
    if (stage === undefined) return over(session);
    const standsOn = below(stage);
    await standsOn?.prepare();
    const staged = await sandbox.compare({ workspace, stage: stage.folder });
    if (!staged.ok) return staged;
    if (staged.value.changes.length === 0) return ok(null);
    const file = await describeCollected(options, { stage, standsOn, staged: staged.value });
    const seen = openStage(file, { discard: endFirst, kept: endFirst, before: () => stage.base() });
    return ok({ ...seen, createdAt: stage.createdAt, isCollecting: true });
  }

  async function end({ workspace, session }: SessionStage): Promise<Result<boolean>> {
    const stage = find(workspace, session);
    if (stage === undefined) return over(session);
    const above = standingOn(stage, [...working.values()]);
    if (above.length > 0) {
      const next = 'End or decide about them first.';
      return fail('CONFLICT', `These stand on the changes of ${session}: ${above.join(', ')}. ${next}`);
    }
    const closed = await stage.end();
    if (!closed.ok) return closed;
    const listed = await listForGood(options, { stage, standsOn: below(stage) });
    if (listed.ok) forget(stage);
    else stage.goOn();
    return listed;
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
