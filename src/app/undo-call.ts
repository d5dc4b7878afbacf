import type { Result } from '../kernel/result.ts';
import { newCallId } from '../runtime/call-id.ts';
import { openByHand, recordByHand } from '../runtime/pipeline/record-external.ts';
import type { App } from './open-app.ts';
import { workspaceId } from './workspace-id.ts';

/** Takes back what a call changed in files. That somebody tries, and who, is recorded first, in the call's session. */
export async function undoCall(
  { store, workspace }: Pick<App, 'store' | 'workspace'>,
  callId: string,
  by: string,
): Promise<Result<{ readonly restored: readonly string[] }>> {
  const undo = () => workspace.undo(callId);
  const call = await store.call(callId);
  // Known to the journal alone where what it left in the log was pruned. One that nobody knows leaves no trace.
  if (call === null && !workspace.canUndo(callId)) return undo();
  const session = call?.session ?? (await openByHand(store, workspaceId(workspace.root), by));
  const deed = { id: newCallId(), session, action: 'person:undo', args: { by, call: callId } } as const;
  return recordByHand(store, deed, undo);
}
