import type { Result } from '../../kernel/result.ts';
import { newCallId } from '../../runtime/pipeline/call-scope.ts';
import { openExternalSession, recordExternal } from '../../runtime/pipeline/record-external.ts';
import type { App } from '../open-app.ts';
import { workspaceId } from '../workspace-id.ts';

/** Undoes the file changes of a call. The attempt and its author are recorded first, in the session of the call. */
export async function undoCall(
  { store, workspace }: Pick<App, 'store' | 'workspace'>,
  callId: string,
  by: string,
): Promise<Result<{ readonly restored: readonly string[] }>> {
  const undo = () => workspace.undo(callId);
  const call = await store.call(callId);
  // The journal may know a call whose events were pruned. An unknown call is not recorded.
  if (call === null && !workspace.canUndo(callId)) return undo();
  const session = call?.session ?? (await openExternalSession(store, workspaceId(workspace.root), by));
  const deed = { id: newCallId(), session, action: 'person:undo', args: { by, call: callId } } as const;
  return recordExternal(store, deed, undo);
}
