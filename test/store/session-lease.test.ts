import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAgent } from '../../src/agent/create-agent.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { createToolwright } from '../../src/runtime/create-toolwright.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'held-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** An agent as another process would have it; `decide` is what its model says. */
async function agentOf(decide: Parameters<typeof scriptedModel>[0]) {
  const opened = await openSqliteStore(folder);
  if (!opened.ok) throw new Error(opened.error.message);
  const { store, blobs } = opened.value;
  const { executor, context } = createToolwright({ store, blobs });
  return { store, agent: createAgent({ model: scriptedModel(decide), executor, store, context }) };
}

test('a session that another process works on is refused with that process named, and free when it is over', async () => {
  let answer = (_: { text: string }) => {};
  const slow = await agentOf(() => new Promise((resolve) => (answer = resolve)));
  const other = await agentOf([{ text: 'Mine now.' }]);
  const running = slow.agent.run('s1', 'Take your time');
  while (!(await other.store.events('s1')).some(({ type }) => type === 'message.added'))
    await new Promise((resolve) => setTimeout(resolve, 10));

  for (const refused of [await other.agent.run('s1', 'Me too'), await other.agent.resume('s1')]) {
    expect(refused).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
    expect(refused.ok || refused.error.message).toMatch(new RegExp(`in process ${process.pid} on \\S+: wait for its`));
  }
  expect((await other.store.events('s1')).filter(({ type }) => type === 'message.added').length).toBe(1);

  answer({ text: 'Done.' });
  expect(await running).toMatchObject({ ok: true, value: { text: 'Done.' } });
  expect(await other.agent.run('s1', 'And now?')).toMatchObject({ ok: true, value: { text: 'Mine now.' } });
  await slow.store.close();
  await other.store.close();
});

test('a run whose process ended is taken up by the next one', async () => {
  const dying = await agentOf(() => new Promise(() => {}));
  void dying.agent.run('s1', 'Never answered');
  while (!(await dying.store.events('s1')).some(({ type }) => type === 'message.added'))
    await new Promise((resolve) => setTimeout(resolve, 10));
  await dying.store.close();

  const next = await agentOf([{ text: 'Here I am.' }]);
  expect(await next.agent.resume('s1')).toMatchObject({ ok: true, value: { text: 'Here I am.' } });
  await next.store.close();
});
