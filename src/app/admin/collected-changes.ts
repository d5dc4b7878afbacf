import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Stage } from '../../kernel/world/stage.ts';
import { newCallId } from '../../runtime/pipeline/call-scope.ts';
import { recordExternal } from '../../runtime/pipeline/record-external.ts';
import type { App } from '../open-app.ts';

type CollectingApp = Pick<App, 'sessions' | 'stages' | 'store' | 'workspace'>;

export interface CollectRequest {
  readonly session: string;
  /** The session in whose changes these are kept. Null: in the workspace. */
  readonly onto: string | null;
  readonly by: string;
}

/** Lets a session collect its changes from now on. Undo of the recorded call takes back what is kept of them. */
export function beginCollecting(app: CollectingApp, { session, onto, by }: CollectRequest): Promise<Result<void>> {
  const callId = newCallId();
  const args = { by, ...(onto !== null && { onto }) };
  return recordExternal(app.store, { id: callId, session, action: 'person:collect', args }, async () => {
    const begun = await app.sessions.begin({ workspace: app.workspace.root, session, onto, callId });
    return begun.ok ? ok(undefined) : begun;
  });
}

/** Ends it. Returns the id of its changes, which are pending from now on, or null where there are none. */
export async function endCollecting(app: CollectingApp, session: string): Promise<Result<string | null>> {
  const stage = app.sessions.of(app.workspace.root, session);
  if (stage === undefined) return fail('CONFLICT', `${session} does not collect its changes.`);
  const ended = await app.sessions.end(stage);
  return ended.ok ? ok(ended.value ? stage.id : null) : ended;
}

/** The changes that sessions of the workspace collect; a session without changes is left out. */
export async function collectedChanges(app: CollectingApp): Promise<Stage[]> {
  const stages = app.sessions.list(app.workspace.root);
  const seen = await Promise.all(stages.map((stage) => app.sessions.review(stage)));
  return seen.flatMap((each) => (each.ok && each.value !== null ? [each.value] : []));
}

/** Makes collected changes pending, so that they can be decided about; the session goes on collecting. */
export async function settleCollected(
  app: CollectingApp,
  { id, session, digest }: Stage,
  by: string,
): Promise<Result<Stage>> {
  const working = app.sessions.of(app.workspace.root, session);
  if (working === undefined || working.id !== id) return fail('CONFLICT', GONE);
  const callId = newCallId();
  const args = { by, ...(working.onto !== null && { onto: working.onto }) };
  const deed = { id: callId, session, action: 'person:collect', args } as const;
  const renewed = await recordExternal(app.store, deed, () => app.sessions.renew(working, callId));
  if (!renewed.ok) return renewed;
  if (!renewed.value) return fail('CONFLICT', GONE);
  const settled = await app.stages.find(id, { session, workspace: app.workspace.root });
  return settled.ok && settled.value.digest !== digest ? fail('CONFLICT', OVERTAKEN) : settled;
}

const GONE = 'These changes were decided about meanwhile. List the pending changes again.';
const OVERTAKEN = 'The session changed more meanwhile. All of it is pending now: look at it again, then decide.';
