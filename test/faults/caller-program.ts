/**
 * A process that makes calls until it is killed, for the crash tests: one that only reads, and one that leaves a trace
 * outside. It prints which calls were answered. Arguments: a folder, and the commit to die at, as `failpoint:count`.
 */
import { appendFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { armFailpoints } from '../../src/kernel/failpoint.ts';
import { ok } from '../../src/kernel/result.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { createToolwright } from '../../src/runtime/create-toolwright.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';

const [folder = '', deadlyPoint = ''] = process.argv.slice(2);
const [point, count = '1'] = deadlyPoint.split(':');
const opened = await openSqliteStore(folder);
if (!opened.ok) throw new Error(opened.error.message);
const { store, blobs } = opened.value;

const base = { description: 'For the crash tests.', input: z.object({ content: z.string() }), access: () => [] };
const tools = [
  defineTool({ ...base, name: 'look', effect: 'pure', run: ({ content }) => ok(content) }),
  defineTool({
    ...base,
    name: 'look_long',
    effect: 'pure',
    async run({ content }) {
      await delay(3);
      return ok(content);
    },
  }),
  defineTool({
    ...base,
    name: 'change',
    effect: 'once',
    run({ content }, ctx) {
      appendFileSync(join(folder, 'effects.log'), `${ctx.callId}\n`);
      return ok(content);
    },
  }),
];
const { call } = createToolwright({ tools, store, blobs, sessionId: 's1' });

let left = Number(count);
armFailpoints((name) => {
  if (name === point && --left === 0) process.kill(process.pid, 'SIGKILL');
});

for (let round = 0; ; round++) {
  await Promise.all(
    tools.map(async ({ name }) => {
      const result = await call(name, { content: 'x'.repeat(round % 2 === 0 ? 50 : 40_000) });
      writeSync(1, `${result.ok ? 'answered' : 'failed'} ${result.callId}\n`);
    }),
  );
}
