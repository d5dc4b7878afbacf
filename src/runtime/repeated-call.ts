import { type CallRecord, isFinal } from '../kernel/call.ts';
import type { Event, LogEvent } from '../kernel/event.ts';
import { failed, succeeded, type ToolResult } from '../kernel/tool-result.ts';
import type { Runtime } from './runtime.ts';

/**
 * The answer to a request whose key was used before: the recorded one, as soon as it is there. Nothing runs twice; a
 * call that its process left behind is resumed.
 */
export async function awaitRepeated(
  rt: Runtime,
  call: CallRecord,
  resume: (queued: CallRecord) => Promise<ToolResult>,
): Promise<ToolResult> {
  const now = await settledOrQueued(rt, call);
  return now.state === 'queued' ? resume(now) : recordedResult(now);
}

async function settledOrQueued(rt: Runtime, call: CallRecord): Promise<CallRecord> {
  if (isOver(call)) return call;
  return new Promise((resolve, reject) => {
    const stop = rt.store.follow === undefined ? rt.bus.on(heard) : rt.store.follow(heard);
    look().catch(reject);

    function heard({ type, callId }: Event | LogEvent): void {
      if (callId === call.id && (type === 'call.finished' || type === 'call.requeued')) look().catch(reject);
    }
    async function look(): Promise<void> {
      const now = await rt.store.call(call.id);
      if (now !== null && !isOver(now)) return;
      stop();
      resolve(now ?? call);
    }
  });
}

function isOver({ state }: CallRecord): boolean {
  return isFinal(state) || state === 'queued';
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
