import { type CallRecord, isFinal } from '../kernel/call.ts';
import { failed, succeeded, type ToolResult } from '../kernel/tool-result.ts';
import type { Runtime } from './runtime.ts';

/** The answer to a request whose key was used before: the recorded one, as soon as it is there. Nothing runs again. */
export async function awaitRepeated(rt: Runtime, call: CallRecord): Promise<ToolResult> {
  if (isFinal(call.state)) return recordedResult(call);
  const finished = new Promise<void>((resolve) => {
    const stop = rt.bus.on((event) => {
      if (event.type !== 'call.finished' || event.callId !== call.id) return;
      stop();
      resolve();
    });
  });
  const now = await rt.store.call(call.id);
  if (now !== null && isFinal(now.state)) return recordedResult(now);
  await finished;
  return recordedResult((await rt.store.call(call.id)) ?? call);
}

function recordedResult(call: CallRecord): ToolResult {
  const { outcome } = call;
  const extras = {
    callId: call.id,
    text: outcome?.text ?? '',
    warnings: outcome?.warnings ?? [],
    metadata: { ...outcome?.metadata, repeated: true },
  };
  if (outcome?.ok) return succeeded(outcome.value, extras);
  const error = outcome?.error ?? { code: 'INTERNAL' as const, message: 'The record of this call has no outcome.' };
  return failed(call.tool, error, extras);
}
