/** Fills the disk its store is on, makes space again, and prints what happened. Argument: a folder on a small disk. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../src/kernel/call/store-error.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';
import { finished, requestedCall } from '../../src/testing/sample-calls.ts';

const [disk = ''] = process.argv.slice(2);
const ballast = join(disk, 'ballast');
writeFileSync(ballast, Buffer.alloc(2_000_000));
const opened = await openSqliteStore(join(disk, 'state'));
if (!opened.ok) throw new Error(opened.error.message);
const { store, blobs } = opened.value;

const acknowledged: string[] = [];
const troubles = new Set<string>();
for (let index = 0; index < 5000 && troubles.size === 0; index++) {
  await Promise.all(Array.from({ length: 8 }, () => attempt()));
}
const rejected = await Promise.resolve(blobs.put(Buffer.alloc(1_000_000, 1))).then(
  () => 'none',
  (error: unknown) => (error instanceof StoreError ? error.trouble : String(error)),
);
const readable = (await store.calls({ limit: 1000 })).items.length;

rmSync(ballast);
const before = acknowledged.length;
for (let index = 0; index < 15; index++) await attempt();
const { problems } = await store.verify();
const missing = (await Promise.all(acknowledged.map((id) => store.call(id)))).filter(
  (call) => call?.state !== 'succeeded',
);
await store.close();
const afterwards = acknowledged.length - before;
process.stdout.write(
  JSON.stringify({ troubles: [...troubles], rejected, readable, afterwards, missing: missing.length, problems }),
);

async function attempt(): Promise<void> {
  const call = requestedCall({ args: { content: 'x'.repeat(4000) } });
  try {
    await store.submit(call);
    await store.move(...finished(call));
    acknowledged.push(call.id);
  } catch (error) {
    troubles.add(error instanceof StoreError ? error.trouble : String(error));
  }
}
