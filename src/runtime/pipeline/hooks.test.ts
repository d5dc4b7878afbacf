import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Policy } from '../../kernel/ports.ts';
import { ok, type Result } from '../../kernel/result.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { createToolwright } from '../create-toolwright.ts';
import type { Hooks } from './hooks.ts';

function subject(hook: Omit<Hooks, 'name'>, policy?: Policy) {
  const ran: string[] = [];
  const shout = defineTool({
    name: 'shout',
    description: 'Shout a word',
    input: z.object({ word: z.string().max(10) }),
    access: () => [],
    run({ word }) {
      ran.push(word);
      return ok(word.toUpperCase());
    },
  });
  const hooks = [{ name: 'guard', ...hook }];
  return { ran, ...createToolwright({ tools: [shout], hooks, ...(policy && { policy }) }) };
}

describe('hooks', () => {
  test('see the call before and after it', async () => {
    const seen: unknown[] = [];
    const { call } = subject({
      before: ({ tool, args }) => void seen.push([tool, args]),
      after: ({ tool }, result) => void seen.push([tool, result]),
    });
    await call('shout', { word: 'hi' });
    expect(seen).toEqual([
      ['shout', { word: 'hi' }],
      ['shout', { ok: true, value: 'HI' }],
    ]);
  });

  test('may veto before anything runs', async () => {
    const { ran, call, executor } = subject({ before: async () => ({ veto: 'not on Fridays' }) });
    const result = await call('shout', { word: 'hi' });
    expect(result.error).toMatchObject({
      code: 'PERMISSION_DENIED',
      message: 'Hook guard refused shout: not on Fridays',
    });
    expect(ran).toEqual([]);
    expect(executor.getExecutions()[0]?.state).toBe('denied');
  });

  test('may change the arguments, which are validated again', async () => {
    expect((await subject({ before: () => ({ args: { word: 'bye' } }) }).call('shout', { word: 'hi' })).output).toBe(
      'BYE',
    );
    const bad = subject({ before: () => ({ args: { word: 'much too long' } }) });
    expect((await bad.call('shout', { word: 'hi' })).error?.message).toBe('Value for word exceeds maximum length: 10');
    expect(bad.ran).toEqual([]);
  });

  test('changed arguments are what policy judges', async () => {
    const judged: unknown[] = [];
    const policy: Policy = {
      decide: ({ args }) => {
        judged.push(args);
        return { verdict: 'allow', rule: 'r', reason: '' };
      },
    };
    await subject({ before: () => ({ args: { word: 'bye' } }) }, policy).call('shout', { word: 'hi' });
    expect(judged).toEqual([{ word: 'bye' }]);
  });

  test('may withhold a result', async () => {
    const { ran, call } = subject({ after: () => ({ veto: 'it holds a secret' }) });
    const result = await call('shout', { word: 'hi' });
    expect(result.error?.code).toBe('PERMISSION_DENIED');
    expect(result.text).toContain('shout ran, but hook guard withheld its result: it holds a secret');
    expect(result.text).not.toContain('HI');
    expect(ran).toEqual(['hi']);
  });

  const broken = () => {
    throw new Error('the hook is broken');
  };
  test.each<[string, Omit<Hooks, 'name'>, string[], string]>([
    ['before', { before: broken }, [], 'Hook guard failed, so shout did not run: the hook is broken'],
    ['after', { after: broken }, ['hi'], 'Hook guard failed, so shout gives no result: the hook is broken'],
  ])('one that throws %s a call ends it: a guard does not fail open', async (_, hook, expected, message) => {
    const { ran, call, executor } = subject(hook);
    const types: string[] = [];
    executor.on(({ type }) => types.push(type));
    const result = await call('shout', { word: 'hi' });
    expect(result.error).toMatchObject({ code: 'INTERNAL', message });
    expect(ran).toEqual(expected);
    expect(types.filter((type) => type === 'call.finished')).toHaveLength(1);
    expect((await executor.history()).items).toHaveLength(1);
  });

  test('are shown a call that was cancelled, and it stays that', async () => {
    const seen: unknown[] = [];
    const wait = defineTool({
      name: 'wait',
      description: 'Waits until it is stopped.',
      input: z.object({}),
      access: () => [],
      run: (_, { signal }) =>
        new Promise<Result<string>>((done) => signal.addEventListener('abort', () => done(ok('')))),
    });
    const after: Hooks['after'] = async ({ tool }, result) => void seen.push([tool, result.ok]);
    const { call, executor } = createToolwright({ tools: [wait], hooks: [{ name: 'audit', after }] });
    const result = await call('wait', {}, { signal: AbortSignal.timeout(50) });
    expect([result.error?.code, executor.getExecutions()[0]?.state]).toEqual(['CANCELLED', 'interrupted']);
    expect(seen).toEqual([['wait', false]]);
  });

  test('one that never settles ends with the call’s own time', async () => {
    const { executor } = subject({ before: () => new Promise(() => {}) });
    const result = await executor.execute('shout', { workingDir: '.', timeout: 0.05 }, { word: 'hi' });
    expect(result.error).toMatchObject({ code: 'TIMEOUT', details: { started: false } });
  });
});
