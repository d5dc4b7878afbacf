/**
 * A process that works on one agent session and dies at the N-th failpoint; started again, it resumes the session.
 * Arguments: folder, model's address, N (0: never). Prints how the run ended.
 */
import { appendFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createAgent } from '../../src/agent/create-agent.ts';
import { armFailpoints, failpoint } from '../../src/kernel/failpoint.ts';
import { ok } from '../../src/kernel/result.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { anthropicModel } from '../../src/models/anthropic.ts';
import { createToolwright } from '../../src/runtime/create-toolwright.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';

const [folder = '', baseUrl = '', dieAt = '0'] = process.argv.slice(2);
const SESSION = 's1';

/** An effect outside the store that must happen at most once. */
const pay = defineTool({
  name: 'pay',
  description: 'Pay once',
  effect: 'once',
  input: z.object({ to: z.string() }),
  access: () => [],
  async run({ to }) {
    failpoint('pay.before');
    appendFileSync(join(folder, 'paid.log'), `${to}\n`);
    failpoint('pay.after');
    await new Promise(setImmediate);
    return ok(`paid ${to}`);
  },
});

const opened = await openSqliteStore(folder);
if (!opened.ok) throw new Error(opened.error.message);
const { store, blobs } = opened.value;
const { executor, context } = createToolwright({ tools: [pay], store, blobs, workingDir: folder });
const model = anthropicModel({ model: 'm', baseUrl, maxTokens: 1000, window: 200_000, retryDelayMs: 1 });
const agent = createAgent({ model, executor, store, blobs, context });

let passed = 0;
armFailpoints(() => {
  if (++passed === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
});
const begun = (await store.events(SESSION)).some(({ type }) => type === 'run.started');
const ran = begun ? await agent.resume(SESSION) : await agent.run(SESSION, 'Pay everybody');
writeSync(1, `${ran.ok ? (ran.value?.reason ?? 'over') : ran.error.message}\n`);
await store.close();
