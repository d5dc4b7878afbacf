/**
 * A process that writes calls until it is killed, for the crash tests. It prints each acknowledged call on a line of its
 * own, with synchronous writes. Arguments: a folder, the database if the store is not in that folder, the session, and
 * the failpoint to die at, as `name:count`.
 */
import { appendFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { armFailpoints } from '../../src/kernel/failpoint.ts';
import { openPostgresStore } from '../../src/storage/postgres/open.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';
import { finished, requestedCall, started } from '../../src/testing/sample-calls.ts';

const [folder = '', databaseUrl = '', session = '', deadlyPoint = ''] = process.argv.slice(2);
const [point, count = '1'] = deadlyPoint.split(':');
let left = Number(count);
if (deadlyPoint !== '') {
  armFailpoints((name) => {
    if (name === point && --left === 0) process.kill(process.pid, 'SIGKILL');
  });
}

const opened = await (databaseUrl === '' ? openSqliteStore(folder) : openPostgresStore(databaseUrl, { leaseMs: 500 }));
if (!opened.ok) throw new Error(opened.error.message);
const { store } = opened.value;
say('ready');

/** A call of class `once` leaves a trace outside the store before and after it ran, as a real effect would. */
for (let round = 0; ; round++) {
  await Promise.all(
    Array.from({ length: 4 }, async (_, index) => {
      const effect = (['once', 'pure', 'idempotent', 'once'] as const)[index] ?? 'once';
      const content = 'x'.repeat(index === 3 && round % 4 === 0 ? 40_000 : 50);
      const call = requestedCall({ session, effect, args: { round, index, content } });
      const requested = await store.submit(call);
      say(`event ${requested.event?.seq}`);
      const start = await store.move(...started(call));
      say(`event ${start?.seq}`);
      appendFileSync(join(folder, 'effects.log'), `${call.id} ${effect}\n`);
      const end = await store.move(...finished(call));
      say(`event ${end?.seq} ended ${call.id}`);
    }),
  );
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}
