import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createInbox } from '../../src/approval/inbox.ts';
import { ok } from '../../src/kernel/result.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { createToolwright } from '../../src/runtime/create-toolwright.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'keep-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** One process: its store, its inbox, and a command that asks about its changes. */
async function start(kept: string[]) {
  const opened = await openSqliteStore(home);
  if (!opened.ok) throw new Error(opened.error.message);
  const { store } = opened.value;
  const applyChanges = defineTool({
    name: 'apply_changes',
    description: 'Keeps the pending changes of a call',
    madeBy: 'runtime',
    input: z.object({ stage: z.string(), call: z.string() }),
    plan: ({ stage }) => ok({ access: [], approval: 'It changes a.', bound: { stage }, stage }),
    run({ stage }) {
      kept.push(stage);
      return ok({ state: 'kept', created: [], modified: ['a'], deleted: [], total: 1, reason: null });
    },
  });
  const command = defineTool({
    name: 'command',
    description: 'Runs a command',
    input: z.object({}),
    access: () => [],
    run: async (_, ctx) => ok(await ctx.keep('s1')),
  });
  const inbox = createInbox(store);
  const toolwright = createToolwright({
    tools: [command, applyChanges],
    store,
    approver: inbox,
    sessionId: 's',
  });
  const end = async () => {
    inbox.close();
    await store.close();
  };
  return { store, end, ...toolwright };
}

test.each([true, false])(
  'a question about pending changes outlives its process, and the answer later is obeyed: %s',
  async (approved) => {
    const kept: string[] = [];
    const first = await start(kept);
    void first.call('command');
    const pending = () => first.store.approvals({ state: 'pending' });
    await expect.poll(async () => (await pending()).length).toBe(1);
    const [question] = await pending();
    await first.end();

    const second = await start(kept);
    await second.store.recover();
    const { id = '', callId = '' } = question ?? {};
    const data = { approvalId: id, approved, by: 'ana' };
    await second.store.decide({ type: 'approval.decided', callId, at: Date.now(), data });
    await second.store.recover();
    const [result] = await second.executor.resume(() => second.context);
    expect(kept).toEqual(approved ? ['s1'] : []);
    expect(result?.error?.code).toBe(approved ? undefined : 'APPROVAL_DENIED');
    expect((await second.store.call(callId))?.state).toBe(approved ? 'succeeded' : 'denied');
    await second.end();
  },
);
