import type { CallState } from '../../kernel/call/call.ts';
import { type KeptChanges, keptChanges, nothingKept } from '../../kernel/tool/kept-changes.ts';
import type { ToolFailure, ToolResult } from '../../kernel/tool/tool-result.ts';
import type { Runtime } from '../runtime.ts';
import type { CallScope } from './call-scope.ts';
import { executeCall } from './execute.ts';

/**
 * Decides about the pending changes of a call by a call inside it: policy, approval, record and events come from there.
 * Changes that somebody or the policy refused are discarded. After any other failure, such as a conflict or a full disk,
 * they stay pending, so that nothing is lost.
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
  return nothingKept('discarded', await afterFailure(rt, call, { stageId, failed: result }));
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

/** Discards what nobody wants any more. Returns the reason with the next step. */
async function afterFailure(
  rt: Runtime,
  call: CallScope,
  { stageId, failed: { error, callId } }: { stageId: string; failed: ToolFailure },
): Promise<string> {
  const found = await call.ctx.stages.find(stageId, { session: call.session, workspace: call.context.workingDir });
  if (!found.ok) return error.message;
  const state = await stateOf(rt, callId);
  if (error.code === 'CONFLICT' || state === null || !REFUSED.has(state)) {
    return `${error.message} The changes are still pending: keep them with toolwright keep ${stageId}, or discard them with toolwright discard ${stageId}.`;
  }
  await found.value.discard();
  return error.message;
}

/** The ends of a call that was refused, that nobody answered, or that was stopped before it started. */
const REFUSED: ReadonlySet<CallState> = new Set(['denied', 'expired', 'cancelled']);

/** Null when the store cannot tell, as on a full disk. */
async function stateOf(rt: Runtime, callId: string | null): Promise<CallState | null> {
  if (callId === null) return null;
  try {
    return (await rt.store.call(callId))?.state ?? null;
  } catch {
    return null;
  }
}
