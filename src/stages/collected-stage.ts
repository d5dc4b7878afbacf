import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { catchErrnoAsync } from '../host/errno.ts';
import { ok, type Result } from '../kernel/result.ts';
import type { StagedChanges } from '../kernel/world/stage.ts';
import { describeStage, type StageJudges } from './describe-stage.ts';
import type { WorkingStage } from './session-stage.ts';
import { readStageFile, removeStage, type StageFile, writeStageFile } from './stage-file.ts';

/** For a person who is asked about all that a session changed. */
const TITLE = 'All changes of the session';

export interface CollectedStage {
  readonly stage: WorkingStage;
  /** The stage below it, if it stands on one. */
  readonly standsOn: WorkingStage | undefined;
}

/** Returns the file of the changes that a session collected. */
export async function describeCollected(
  judges: StageJudges,
  { stage, standsOn, staged }: CollectedStage & { readonly staged: StagedChanges },
): Promise<StageFile> {
  const { workspace, session, callId, folder } = stage;
  const about = { workspace, session, callId, title: TITLE, allowedBy: null, standsOn };
  const listed = { folder: folder.folder, staged: stage.unmarkEarlierEdits(staged), isPartial: false };
  const described = await describeStage(judges, { ...listed, owner: { ...about, wrote: () => false } });
  return { ...described, isOfSession: true };
}

/** Lists the changes of a stage that has ended, so that they are pending. False when there are none: then it is removed. */
export function listForGood(judges: StageJudges, ended: CollectedStage): Promise<Result<boolean>> {
  const { workspace, folder } = ended.stage;
  return catchErrnoAsync('The changes of this session', async () => {
    const staged = await judges.sandbox.compare({ workspace, stage: folder });
    if (!staged.ok) return staged;
    const hasChanges = staged.value.changes.length > 0;
    if (!hasChanges) removeStage(folder.folder);
    else writeStageFile(folder.folder, await describeCollected(judges, { ...ended, staged: staged.value }));
    return ok(hasChanges);
  });
}

/** Sessions, running commands and pending changes that stand on a stage, in words. */
export function standingOn(stage: WorkingStage, working: readonly WorkingStage[]): string[] {
  const { workspace, session } = stage;
  const sessions = working.filter((each) => each.workspace === workspace && each.onto === session);
  const stages = dirname(stage.folder.folder);
  const pending = readdirSync(stages)
    .flatMap((id) => readStageFile(join(stages, id)) ?? [])
    .filter((each) => each.workspace === workspace && each.standsOn === session);
  return [
    ...sessions.map((each) => `session ${each.session}`),
    ...stage.runTitles().map((title) => `the command ${title}`),
    ...pending.map(({ id, title }) => `the pending changes ${id} of ${title}`),
  ];
}
