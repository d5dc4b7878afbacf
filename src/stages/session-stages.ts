import { join } from 'node:path';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { SessionStage, SessionStageOwner, SessionStages, Stage } from '../kernel/world/stage.ts';
import { describeCollected, listForGood, standingOn } from './collected-stage.ts';
import type { StageJudges } from './describe-stage.ts';
import { makeSessionStage, removeSessionStage } from './make-session-stage.ts';
import { openStage } from './open-stage.ts';
import { removeSessionFile, type SessionFile } from './session-file.ts';
import { WorkingStages } from './working-stages.ts';

export interface SessionStagesOptions extends StageJudges {
  /** Where it is noted which sessions have one. */
  readonly stateDir: string;
}

/** Stages that sessions keep over several calls, in the folder of all stages. Those of earlier processes go on. */
export function openSessionStages(options: SessionStagesOptions): SessionStages {
  const { sandbox } = options;
  const notes = join(options.stateDir, 'sessions');
  const place = { sandbox, notes };
  const working = new WorkingStages(sandbox, notes);
  working.refresh();

  function begin(owner: SessionStageOwner): Promise<Result<SessionStage>> {
    const { workspace, session, onto } = owner;
    return working.turnOf(owner)(async () => {
      working.refresh();
      if (working.find(workspace, session) !== undefined)
        return fail('CONFLICT', `${session} collects its changes already.`);
      if (onto !== null && working.find(workspace, onto) === undefined) {
        return fail(
          'FILE_NOT_FOUND',
          `${onto} does not collect its changes, so none can stand on them: begin with it.`,
        );
      }
      const made = await makeSessionStage(place, owner);
      if (!made.ok) return made;
      const stage = working.take(made.value);
      const prepared = await stage.prepare();
      if (prepared.ok) return ok(stage);
      working.drop(stage);
      removeSessionStage(place, made.value);
      return prepared;
    });
  }

  async function review({ workspace, session }: SessionStage): Promise<Result<Stage | null>> {
    const stage = working.find(workspace, session);
    if (stage === undefined) return notCollecting(session);
    const standsOn = working.below(stage);
    await standsOn?.prepare();
    const staged = await sandbox.compare({ workspace, stage: stage.folder });
    if (!staged.ok) return staged;
    if (staged.value.changes.length === 0) return ok(null);
    const file = await describeCollected(options, { stage, standsOn, staged: staged.value });
    const seen = openStage(file, { discard: endFirst, kept: endFirst, before: () => stage.base() });
    return ok({ ...seen, createdAt: stage.createdAt, isCollecting: true });
  }

  function end(given: SessionStage): Promise<Result<boolean>> {
    return working.turnOf(given)(() => endAndGoOn(given, null));
  }

  /** The session collects at every moment: the next stage is there before the first one ends. */
  function renew(given: SessionStage, callId: string): Promise<Result<boolean>> {
    return working.turnOf(given)(async () => {
      const next = await makeSessionStage(place, { ...given, callId });
      if (!next.ok) return next;
      const ended = await endAndGoOn(given, next.value);
      if (!ended.ok) removeSessionStage(place, next.value);
      return ended;
    });
  }

  async function endAndGoOn(given: SessionStage, next: SessionFile | null): Promise<Result<boolean>> {
    const { workspace, session, id } = given;
    // Another process may have begun one that stands on it.
    working.refresh();
    const stage = working.find(workspace, session);
    if (stage === undefined || stage.id !== id) return notCollecting(session);
    const above = standingOn(stage, working.all());
    if (above.length > 0) {
      const advice = 'End or decide about them first.';
      return fail('CONFLICT', `These stand on the changes of ${session}: ${above.join(', ')}. ${advice}`);
    }
    const closed = await stage.end();
    if (!closed.ok) return closed;
    const listed = await listForGood(options, { stage, standsOn: working.below(stage) });
    if (!listed.ok) {
      stage.goOn();
      return listed;
    }
    working.drop(stage);
    if (next !== null) working.take(next);
    removeSessionFile(notes, id);
    return listed;
  }

  return {
    begin,
    of: (workspace, session) => working.find(workspace, session),
    refresh: () => working.refresh(),
    list: (workspace) => working.all().filter((each) => each.workspace === workspace),
    review,
    end,
    renew,
    close() {
      for (const stage of working.all()) stage.close();
    },
  };
}

function notCollecting(session: string): Result<never> {
  return fail('FILE_NOT_FOUND', `${session} does not collect its changes, or they were decided about.`);
}

async function endFirst(): Promise<never> {
  throw new Error('changes that are still collected were decided about');
}
