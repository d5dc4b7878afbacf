import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { catchErrnoAsync } from '../host/errno.ts';
import { makePrivateFolder } from '../host/private-folder.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import type { SessionStageOwner } from '../kernel/world/stage.ts';
import { removeSessionFile, type SessionFile, writeSessionFile } from './session-file.ts';
import { removeStage } from './stage-file.ts';

export interface SessionStagePlace {
  readonly sandbox: Sandbox;
  /** The folder that says which sessions have a stage. */
  readonly notes: string;
}

/** Makes the folder and the note of a new stage. A failure leaves nothing behind. */
export async function makeSessionStage(
  place: SessionStagePlace,
  { workspace, session, onto, callId }: SessionStageOwner,
): Promise<Result<SessionFile>> {
  const stages = await folderOfStages(place.sandbox);
  if (!stages.ok) return stages;
  const id = randomBytes(8).toString('hex');
  const folder = join(stages.value, id);
  const file: SessionFile = { format: 1, id, workspace, session, onto, callId, createdAt: Date.now(), folder };
  const made = await catchErrnoAsync('The changes of this session', async () => {
    makePrivateFolder(stages.value);
    makePrivateFolder(place.notes);
    mkdirSync(folder, { mode: 0o700 });
    writeSessionFile(place.notes, file);
    return ok(file);
  });
  if (!made.ok) removeSessionStage(place, file);
  return made;
}

export function removeSessionStage({ notes }: SessionStagePlace, { id, folder }: SessionFile): void {
  removeSessionFile(notes, id);
  removeStage(folder);
}

async function folderOfStages(sandbox: Sandbox): Promise<Result<string>> {
  const status = await sandbox.status();
  if (!status.ok) return status;
  const { folder } = status.value.stages;
  const why = `The sandbox ${sandbox.kind} has no private view of the workspace, so no session can collect its changes.`;
  return folder === null ? fail('NOT_CONFIGURED', why) : ok(folder);
}
