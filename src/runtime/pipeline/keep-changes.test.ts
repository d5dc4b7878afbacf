import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ApprovalResponse } from '../../kernel/ports.ts';
import { ok } from '../../kernel/result.ts';
import { nothingKept } from '../../kernel/tool/kept-changes.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { createToolwright } from '../create-toolwright.ts';
import { ToolRegistry } from '../registry/registry.ts';

const KEPT = { ...nothingKept('nothing changed', null), state: 'kept', created: ['a'], total: 1 } as const;

/** `command` keeps what it made; `write` conflicts with it. `asks`: a person is asked about the changes. */
function subject(given: {
  asks: boolean;
  answer?: () => Promise<ApprovalResponse>;
  timeout?: number;
  then?: () => unknown;
}) {
  const log: string[] = [];
  const { asks, answer = async () => ({ approved: true }), timeout = 60 } = given;
  const applyChanges = defineTool({
    name: 'apply_changes',
    description: 'Keeps the pending changes of a call',
    madeBy: 'runtime',
    input: z.object({ stage: z.string(), call: z.string() }),
    plan: (args) =>
      ok({ access: [{ kind: 'fs.write' as const, path: 'a' }], ...(asks && { approval: 'It changes a.' }), args }),
    run({ args }, ctx) {
      log.push(`kept ${args.stage} of ${args.call === ctx.callId ? 'itself' : 'another call'}`);
      return ok(KEPT);
    },
  });
  const command = defineTool({
    name: 'command',
    description: 'Runs a command',
    input: z.object({}),
    access: () => [{ kind: 'process.run', command: 'x', writes: 'workspace' }],
    async run(_, ctx) {
      const kept = await ctx.keep('s1');
      await given.then?.();
      return ok(kept);
    },
  });
  const write = defineTool({
    name: 'write',
    description: 'Writes a',
    input: z.object({}),
    access: () => [{ kind: 'fs.write', path: 'a' }],
    run: () => ok(log.push('wrote')),
  });
  const toolwright = createToolwright({
    tools: [command, write, applyChanges],
    timeout,
    approver() {
      log.push('asked');
      return answer();
    },
  });
  return { log, applyChanges, ...toolwright };
}

const until = async (log: readonly string[], step: string) => {
  while (!log.includes(step)) await new Promise(setImmediate);
};

describe('pending changes', () => {
  test('are decided about by a call of their own, inside the one that made them', async () => {
    const { call, log, executor } = subject({ asks: false });
    const result = await call('command');
    expect(result.value).toEqual(KEPT);
    expect(log).toEqual(['kept s1 of another call']);
    const { items } = await executor.history();
    const inner = items.find(({ tool }) => tool === 'apply_changes');
    expect(inner).toMatchObject({ state: 'succeeded', args: { stage: 's1', call: result.callId } });
  });

  test('are not kept if a person says no: the reason comes back', async () => {
    const { call, log } = subject({ asks: true, answer: async () => ({ approved: false, message: 'not that' }) });
    expect((await call('command')).value).toMatchObject({
      state: 'discarded',
      reason: expect.stringContaining('not that'),
    });
    expect(log).toEqual(['asked']);
  });

  test('cannot be kept where nothing is configured for it', async () => {
    const alone = defineTool({
      name: 'alone',
      description: 'Keeps nothing',
      input: z.object({}),
      access: () => [],
      run: async (_, ctx) => ok(await ctx.keep('s1')),
    });
    const { value } = await createToolwright({ tools: [alone] }).call('alone');
    expect(value).toMatchObject({ state: 'discarded', reason: expect.stringContaining('apply_changes') });
  });
});

describe('while a person is asked about them', () => {
  test('the timeout of the call that made them stands still, and goes on afterwards', async () => {
    const slow = async () => {
      await delay(400);
      return { approved: true };
    };
    expect((await subject({ asks: true, answer: slow, timeout: 0.1 }).call('command')).ok).toBe(true);
    const hanging = subject({ asks: true, answer: slow, timeout: 0.1, then: () => new Promise(() => {}) });
    expect((await hanging.call('command')).error?.code).toBe('TIMEOUT');
    expect(hanging.log).toContain('kept s1 of another call');
  });

  test('other calls are not held up, and the answer comes after them', async () => {
    let approve = (_: ApprovalResponse) => {};
    const answer = new Promise<ApprovalResponse>((resolve) => (approve = resolve));
    const { call, log } = subject({ asks: true, answer: () => answer });
    const running = call('command');
    await until(log, 'asked');
    expect((await call('write')).ok).toBe(true);
    approve({ approved: true });
    expect((await running).ok).toBe(true);
    expect(log).toEqual(['asked', 'wrote', 'kept s1 of another call']);
  });

  test('a call that is cancelled takes its question back', async () => {
    const stop = new AbortController();
    const { call, log, executor } = subject({ asks: true, answer: () => new Promise(() => {}) });
    const running = call('command', {}, { signal: stop.signal });
    await until(log, 'asked');
    stop.abort();
    expect((await running).error?.code).toBe('CANCELLED');
    const inner = async () => (await executor.history({ tool: 'apply_changes' })).items[0]?.state;
    await expect.poll(inner).toBe('cancelled');
  });
});

test('where nobody is asked, a call that waits runs after the changes are kept', async () => {
  const { executor, context, log } = subject({ asks: false });
  await executor.executeMany([{ tool: 'command' }, { tool: 'write' }], context);
  expect(log).toEqual(['kept s1 of another call', 'wrote']);
});

describe('a tool that only the runtime uses', () => {
  const args = { stage: 's1', call: 'c' };

  test('cannot be called by its name', async () => {
    const { call, log } = subject({ asks: false });
    const refused = await call('apply_changes', args);
    expect(refused.error).toMatchObject({ code: 'UNKNOWN_TOOL', details: { suggestions: [] } });
    expect(log).toEqual([]);
  });

  test('is in no list, and is no suggestion', () => {
    const { applyChanges } = subject({ asks: false });
    const registry = new ToolRegistry();
    registry.register(applyChanges);
    const lists = [registry.list(), registry.listNames(), registry.offered(), registry.describeAll()];
    expect(lists).toEqual([[], [], [], []]);
    expect(registry.count()).toBe(0);
    expect(registry.find('apply_change')).toMatchObject({ error: { details: { suggestions: [] } } });
  });

  test('can be reviewed, for a person who edits the arguments of its question', async () => {
    const { executor, context, log } = subject({ asks: true });
    const review = await executor.review('apply_changes', context, args);
    expect(review).toMatchObject({ ok: true, value: { verdict: { verdict: 'ask' } } });
    expect(log).toEqual([]);
  });
});
