import type { Result } from '../kernel/result.ts';
import { newCallId } from '../runtime/call-id.ts';
import { recordByHand } from '../runtime/record-by-hand.ts';
import type { App } from './open-app.ts';

/** Takes back what a call changed in files. That it was done, and by whom, stands in the call's session afterwards. */
export async function undoCall(
  { store, workspace }: App,
  callId: string,
  by: string,
): Promise<Result<{ readonly restored: readonly string[] }>> {
  const undone = await workspace.undo(callId);
  const call = undone.ok ? await store.call(callId) : null;
  if (call === null) return undone;
  const deed = { id: newCallId(), session: call.session, action: 'person:undo', args: { by, call: callId } } as const;
  return recordByHand(store, deed, async () => undone);
}
