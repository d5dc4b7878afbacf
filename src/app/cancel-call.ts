import { setTimeout as delay } from 'node:timers/promises';
import { type CallRecord, isFinal } from '../kernel/call.ts';
import type { Ledger } from '../kernel/ledger.ts';
import type { LiveCalls } from '../runtime/live-calls.ts';

const TRIES = 40;
const TRY_MS = 50;

/**
 * Asks whoever runs the call to stop it. If nobody does, because its process ended while it waited, it is ended here.
 * False when it was over before.
 */
export async function cancelCall(ledger: Ledger, live: LiveCalls, call: CallRecord, by: string): Promise<boolean> {
  const { id: callId, session } = call;
  if (isFinal(call.state)) return false;
  await ledger.append(session, [{ type: 'call.cancel_requested', callId, at: Date.now(), data: { by } }]);
  if (live.cancel(callId)) return true;
  for (let tries = 0; tries < TRIES; tries++) {
    const now = await ledger.call(callId);
    if (now === null || isFinal(now.state)) return true;
    await delay(TRY_MS);
  }
  await endWaiting(ledger, call);
  return true;
}

/** Stops calls of this process that somebody cancelled in another. Returns how to stop hearing. */
export function hearCancels(ledger: Ledger, live: LiveCalls): () => void {
  return ledger.follow((event) => {
    if (event.type === 'call.cancel_requested') live.cancel(event.callId);
  });
}

async function endWaiting(ledger: Ledger, { id: callId, tool }: CallRecord): Promise<void> {
  const at = Date.now();
  const message = `${tool} was cancelled before it started; nothing ran.`;
  const error = { code: 'CANCELLED', message, details: { phase: 'not_started' } } as const;
  const outcome = { ok: false, text: `Error: ${message}`, error };
  // The clock that could have measured it ended with its process.
  const durationMs = null;
  const move = {
    from: ['awaiting_approval', 'queued'],
    to: 'cancelled',
    set: { finishedAt: at, durationMs, outcome },
  } as const;
  const data = { tool, state: 'cancelled', outcome, durationMs } as const;
  await ledger.move(callId, move, { type: 'call.finished', callId, at, data });
}
