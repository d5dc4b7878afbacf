import { setTimeout as delay } from 'node:timers/promises';
import { type CallRecord, type CallState, isFinal } from '../../kernel/call/call.ts';
import { cancelledBeforeStart } from '../../kernel/call/cancelled-outcome.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';
import type { LiveCalls } from '../../runtime/order/live-calls.ts';

const TRIES = 40;
const TRY_MS = 50;

/**
 * Asks whoever runs the call to stop it. If nobody does, because its process ended, it is ended here, or when it is known
 * that the process has ended: it does not run again. False when it was over before.
 */
export async function cancelCall(ledger: Ledger, live: LiveCalls, call: CallRecord, by: string): Promise<boolean> {
  const { id: callId, session } = call;
  if (isFinal(call.state)) return false;
  await ledger.append(session, [{ type: 'call.cancel_requested', callId, at: Date.now(), data: { by } }]);
  for (let tries = 0; tries < TRIES; tries++) {
    // Each time: it may be taken over here meanwhile.
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

/** Stops calls of this process that somebody cancelled in another. Returns how to stop hearing. */
export function hearCancels(ledger: Ledger, live: LiveCalls): () => void {
  return ledger.follow((event) => {
    if (event.type === 'call.cancel_requested') live.cancel(event.callId);
  });
}

async function endFrom(ledger: Ledger, { id: callId, tool }: CallRecord, from: readonly CallState[]): Promise<boolean> {
  const at = Date.now();
  const outcome = cancelledBeforeStart(tool);
  // The clock that could have measured it ended with its process.
  const durationMs = null;
  const move = { from, to: 'cancelled', set: { finishedAt: at, durationMs, outcome } } as const;
  const data = { tool, state: 'cancelled', outcome, durationMs } as const;
  return (await ledger.move(callId, move, { type: 'call.finished', callId, at, data })) !== null;
}
