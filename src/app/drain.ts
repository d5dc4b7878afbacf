import { setTimeout as delay } from 'node:timers/promises';
import type { Host } from './open-host.ts';

const LOOK_MS = 50;
const LAST_MS = 3000;

/**
 * Lets running calls end, then stops them, each with its record. Calls that wait for a person are left as they are:
 * whoever starts next takes them over when there is an answer.
 */
export async function drain({ ledger, live }: Pick<Host, 'ledger' | 'live'>, graceMs = 5000): Promise<void> {
  if (await allEnded(graceMs)) return;
  for (const id of await running()) live.cancel(id);
  await allEnded(LAST_MS);

  async function allEnded(withinMs: number): Promise<boolean> {
    for (let waited = 0; waited <= withinMs; waited += LOOK_MS) {
      if ((await running()).length === 0) return true;
      await delay(LOOK_MS);
    }
    return false;
  }

  async function running(): Promise<string[]> {
    const states = await Promise.all(live.ids().map(async (id) => [id, (await ledger.call(id))?.state] as const));
    return states.filter(([, state]) => state === 'requested' || state === 'running').map(([id]) => id);
  }
}
