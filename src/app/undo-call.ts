import type { Result } from '../kernel/result.ts';
import { newCallId } from '../runtime/call-id.ts';
import { openByHand, recordByHand } from '../runtime/record-by-hand.ts';
import type { App } from './open-app.ts';
import { workspaceId } from './workspace-id.ts';

/** Takes back what a call changed in files. That it is done, and by whom, is recorded first, in the call's session. */
export async function undoCall(
  { store, workspace }: App,
  callId: string,
  by: string,
): Promise<Result<{ readonly restored: readonly string[] }>> {
  const undo = () => workspace.undo(callId);
  // It says why not; nothing is done, so there is nothing to record.
  if (!workspace.canUndo(callId)) return undo();
  const call = await store.call(callId);
  const session = call?.session ?? (await openByHand(store, workspaceId(workspace.root), by));
  const deed = { id: newCallId(), session, action: 'person:undo', args: { by, call: callId } } as const;
  return recordByHand(store, deed, undo);
}
