import { setTimeout as delay } from 'node:timers/promises';
import { type CallRecord, type CallState, isFinal } from '../../kernel/call/call.ts';
import { cancelledBeforeStart } from '../../kernel/call/cancelled-outcome.ts';
import type { LogEvent } from '../../kernel/call/event.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';
import type { LiveCalls } from '../../runtime/order/live-calls.ts';

const MAX_TRIES = 40;
const TRY_MS = 50;

/**
 * Asks the process that runs the call to stop it. If that process has ended, the call is ended here, or by recovery
 * once the end of the process is known; it does not run again. Returns false when the call had ended before.
 */
export async function cancelCall(ledger: Ledger, live: LiveCalls, call: CallRecord, by: string): Promise<boolean> {
  const { id: callId, session } = call;
  if (isFinal(call.state)) return false;
  await ledger.append(session, [{ type: 'call.cancel_requested', callId, at: Date.now(), data: { by } }]);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    // Tried each time: this process may take the call over meanwhile.
    if (live.cancel(callId)) return true;
    const now = await ledger.call(callId);
    if (now === null || isFinal(now.state)) return true;
    if (now.state === 'queued' && (await endFrom(ledger, call, ['queued']))) return true;
    await delay(TRY_MS);
  }
  await ledger.recover();
  await endFrom(ledger, call, ['awaiting_approval', 'queued']);
  return true;
}

/** Stops calls of this process that were cancelled in another. Returns a function that stops following. */
export function followCancels(ledger: Ledger, live: LiveCalls): () => void {
  const cancel = (event: LogEvent) => event.type === 'call.cancel_requested' && live.cancel(event.callId);
  return ledger.follow(cancel, { types: ['call.cancel_requested'] });
}

async function endFrom(ledger: Ledger, { id: callId, tool }: CallRecord, from: readonly CallState[]): Promise<boolean> {
  const at = Date.now();
  const outcome = cancelledBeforeStart(tool);
  // The duration was measured by the process that ended.
  const durationMs = null;
  const move = { from, to: 'cancelled', set: { finishedAt: at, durationMs, outcome } } as const;
  const data = { tool, state: 'cancelled', outcome, durationMs } as const;
  return (await ledger.move(callId, move, { type: 'call.finished', callId, at, data })) !== null;
}
