import type { Failure } from '../../kernel/error.ts';
import { type KeptChanges, keptChanges, nothingKept } from '../../kernel/tool/kept-changes.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
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
    return nothingKept(
      'discarded',
      'Nothing here can keep pending changes: register the tool apply_changes of the built-in tools.',
    );
  }
  // `takeUp` is the executor's: the call can then be stopped by its own id.
  const run = call.request.takeUp ?? ((request) => executeCall(rt, request));
  const args = { stage: stageId, call: call.callId };
  const result = await run({ tool, args, context: call.context, parent: call });
  if (result.ok) return keptChanges.parse(result.value);
  if (result.error.code !== 'CONFLICT') await discard(call, stageId);
  return nothingKept('discarded', reasonOf(result.error));
}

/**
 * Repeats a call whose command could not write, by a call inside it that asks for the real files: policy, question, record
 * and events come from there. Null inside such a call: it is repeated once.
 */
export async function runLive(rt: Runtime, call: CallScope): Promise<ToolResult | null> {
  if (call.request.isLive) return null;
  const { takeUp, tool } = call.request;
  const run = takeUp ?? ((request) => executeCall(rt, request));
  return run({ tool, args: call.args, context: call.context, parent: call, isLive: true });
}

async function discard(call: CallScope, stageId: string): Promise<void> {
  const found = await call.ctx.stages.find(stageId, { session: call.session, workspace: call.context.workingDir });
  if (found.ok) await found.value.discard();
}

function reasonOf({ code, message }: Pick<Failure, 'code' | 'message'>): string {
  return code === 'CONFLICT' ? `${message} The changes are still pending: keep or discard them.` : message;
}
