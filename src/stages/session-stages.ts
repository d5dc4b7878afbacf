import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { catchErrnoAsync } from '../host/errno.ts';
import { statOf } from '../host/files.ts';
import { Mutex } from '../host/mutex.ts';
import { makePrivateFolder } from '../host/private-folder.ts';
import { removeTree } from '../host/remove-tree.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { SessionStage, SessionStageOwner, SessionStages, Stage } from '../kernel/world/stage.ts';
import { describeCollected, listForGood, standingOn } from './collected-stage.ts';
import type { StageJudges } from './describe-stage.ts';
import { openStage } from './open-stage.ts';
import { readSessionFiles, removeSessionFile, type SessionFile, writeSessionFile } from './session-file.ts';
import { openSessionStage, type WorkingStage } from './session-stage.ts';
import { readStageFile } from './stage-file.ts';

export interface SessionStagesOptions extends StageJudges {
  /** Where it is noted which sessions have one. */
  readonly stateDir: string;
}

/** Stages that sessions keep over several calls, in the folder of all stages. Those of earlier processes go on. */
export function openSessionStages(options: SessionStagesOptions): SessionStages {
  const { sandbox } = options;
  const notes = join(options.stateDir, 'sessions');
  const working = new Map<string, WorkingStage>();
  const turns = new Map<string, Mutex>();
  let readAtMs: number | undefined;
  refresh();

  /** A stage whose changes are listed has ended, also where a crash left its note. */
  function refresh(): void {
    const changedAtMs = statOf(notes)?.mtimeMs;
    if (changedAtMs === readAtMs) return;
    const files = readSessionFiles(notes).filter(({ folder }) => existsSync(folder) && readStageFile(folder) === null);
    readAtMs = changedAtMs;
    const ids = new Set(files.map(({ id }) => id));
    for (const stage of [...working.values()].filter(({ id }) => !ids.has(id))) drop(stage);
    // Of two stages of one session, which a crash can leave, the older one goes on.
    for (const file of files) if (find(file.workspace, file.session) === undefined) take(file);
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

  function begin(owner: SessionStageOwner): Promise<Result<SessionStage>> {
    const { workspace, session, onto } = owner;
    return turnOf(owner).run(async () => {
      if (find(workspace, session) !== undefined) return fail('CONFLICT', `${session} collects its changes already.`);
      if (onto !== null && find(workspace, onto) === undefined) {
        return fail(
          'FILE_NOT_FOUND',
          `${onto} does not collect its changes, so none can stand on them: begin with it.`,
        );
      }
      const made = await makeStage(owner);
      if (!made.ok) return made;
      const stage = take(made.value);
      const prepared = await stage.prepare();
      if (prepared.ok) return ok(stage);
      drop(stage);
      unmake(made.value);
      return prepared;
    });
  }

  /** The folder and the note of a new stage. */
  async function makeStage(owner: SessionStageOwner): Promise<Result<SessionFile>> {
    const place = await folderOfStages();
    if (!place.ok) return place;
    const id = randomBytes(8).toString('hex');
    const folder = join(place.value, id);
    const { workspace, session, onto, callId } = owner;
    const file: SessionFile = { format: 1, id, workspace, session, onto, callId, createdAt: Date.now(), folder };
    const made = await catchErrnoAsync('The changes of this session', async () => {
      makePrivateFolder(place.value);
      makePrivateFolder(notes);
      mkdirSync(folder, { mode: 0o700 });
      writeSessionFile(notes, file);
      return ok(file);
    });
    if (!made.ok) unmake(file);
    return made;
  }

  function unmake({ id, folder }: SessionFile): void {
    removeSessionFile(notes, id);
    removeTree(folder);
  }

  function drop(stage: WorkingStage): void {
    stage.close();
    const key = keyOf(stage.workspace, stage.session);
    if (working.get(key) === stage) working.delete(key);
  }

  /** Stages of one session begin and end one after the other. */
  function turnOf({ workspace, session }: Pick<SessionStageOwner, 'workspace' | 'session'>): Mutex {
    const key = keyOf(workspace, session);
    const turn = turns.get(key) ?? new Mutex();
    turns.set(key, turn);
    return turn;
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

  function end(given: SessionStage): Promise<Result<boolean>> {
    return turnOf(given).run(() => endAndGoOn(given, null));
  }

  /** The session collects at every moment: the next stage is there before the first one ends. */
  function renew(given: SessionStage, callId: string): Promise<Result<boolean>> {
    return turnOf(given).run(async () => {
      const next = await makeStage({ ...given, callId });
      if (!next.ok) return next;
      const ended = await endAndGoOn(given, next.value);
      if (!ended.ok) unmake(next.value);
      return ended;
    });
  }

  async function endAndGoOn(given: SessionStage, next: SessionFile | null): Promise<Result<boolean>> {
    const { workspace, session, id } = given;
    const stage = find(workspace, session);
    if (stage === undefined || stage.id !== id) return over(session);
    const above = standingOn(stage, [...working.values()]);
    if (above.length > 0) {
      const advice = 'End or decide about them first.';
      return fail('CONFLICT', `These stand on the changes of ${session}: ${above.join(', ')}. ${advice}`);
    }
    const closed = await stage.end();
    if (!closed.ok) return closed;
    const listed = await listForGood(options, { stage, standsOn: below(stage) });
    if (!listed.ok) {
      stage.goOn();
      return listed;
    }
    drop(stage);
    if (next !== null && find(workspace, session)?.id !== next.id) take(next);
    removeSessionFile(notes, id);
    return listed;
  }

  return {
    begin,
    of: find,
    refresh,
    list: (workspace) => [...working.values()].filter((each) => each.workspace === workspace),
    review,
    end,
    renew,
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
