import type { Failure } from '../../kernel/error.ts';
import type { KeptChanges } from '../../kernel/tool/kept-changes.ts';
import type { Runtime } from '../runtime.ts';
import type { CallScope } from './call-scope.ts';
import { executeCall } from './execute.ts';

/**
 * Decides about the pending changes of a call by a call inside it: policy, approval, record and events come from there.
 * Changes that are not kept are discarded. After a conflict they stay pending, so that nothing is lost.
 */
export async function keepChanges(rt: Runtime, call: CallScope, stageId: string): Promise<KeptChanges> {
  const tool = rt.madeByRuntime();
  if (tool === undefined) {
    return notKept('Nothing here can keep pending changes: register the tool apply_changes of the built-in tools.');
  }
  // `takeUp` is the executor's: the call can then be stopped by its own id.
  const run = call.request.takeUp ?? ((request) => executeCall(rt, request));
  const args = { stage: stageId, call: call.callId };
  const result = await run({ tool, args, context: call.context, parent: call });
  if (result.ok) return result.value as KeptChanges;
  if (result.error.code !== 'CONFLICT') await discard(call, stageId);
  return notKept(reasonOf(result.error));
}

async function discard(call: CallScope, stageId: string): Promise<void> {
  const found = await call.ctx.stages.find(stageId, { session: call.session, workspace: call.context.workingDir });
  if (found.ok) await found.value.discard();
}

function reasonOf({ code, message }: Pick<Failure, 'code' | 'message'>): string {
  return code === 'CONFLICT' ? `${message} The changes are still pending: keep or discard them.` : message;
}

function notKept(reason: string): KeptChanges {
  return { state: 'discarded', created: [], modified: [], deleted: [], total: 0, reason };
}
