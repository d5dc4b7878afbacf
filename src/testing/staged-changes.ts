import { createFilePolicy } from '../kernel/world/file-policy.ts';
import type { ClassifiedChange } from '../kernel/world/stage.ts';
import { createStages } from '../stages/create-stages.ts';
import type { TrySandbox } from './try-sandbox.ts';

/** Runs a script in a stage of the workspace, and returns its changes with their classes. The stage is discarded. */
export async function stagedChanges(
  at: TrySandbox,
  script: string,
  { wrote = (_path: string): boolean => false } = {},
): Promise<ClassifiedChange[]> {
  const stages = createStages({ sandbox: at.sandbox, policy: createFilePolicy(), home: at.home });
  const owner = { workspace: at.workspace, session: 's', callId: 'c', title: 'x', allowedBy: null, wrote };
  const begun = await stages.begin(owner);
  if (!begun.ok) throw new Error(begun.error.message);
  const ran = await at.sh(script, { mounts: 'staged', stage: begun.value.folder });
  if (ran.staged === null) throw new Error('nothing was staged');
  const finished = await begun.value.finish(ran.staged, { isPartial: false });
  if (!finished.ok) throw new Error(finished.error.message);
  const changes = [...(finished.value?.changes ?? [])];
  await finished.value?.discard();
  return changes;
}
