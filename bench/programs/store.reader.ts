/** Opens a store, reads its newest calls and the last events of a session, and prints the time that took. */
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';

export interface Reading {
  ms: number;
  megabytes: number;
}

const [folder = ''] = process.argv.slice(2);
const start = performance.now();
const opened = await openSqliteStore(folder);
if (!opened.ok) throw new Error(opened.error.message);
const { store } = opened.value;
const { items } = await store.history({ newestFirst: true, limit: 50 });
const session = items[0]?.session ?? '';
const events = await store.events(session, Math.max(0, 100 - 50));
const ms = performance.now() - start;
if (items.length < 50 || events.length === 0) throw new Error('there was nothing to read');
process.send?.({ ms, megabytes: process.memoryUsage().rss / 1e6 } satisfies Reading);
await store.close();
process.disconnect?.();
