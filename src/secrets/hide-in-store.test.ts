import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fail, ok } from '../kernel/result.ts';
import { defineTool } from '../kernel/tool/tool.ts';
import { createToolwright } from '../runtime/create-toolwright.ts';
import { MemoryStore } from '../runtime/memory/memory-store.ts';
import { finished, requestedCall } from '../testing/sample-calls.ts';
import { hideInStore } from './hide-in-store.ts';
import { createHider, secretValues, wasHidden } from './hide-secrets.ts';
import { MemoryVault } from './vault.ts';

const TOKEN = `sk-test-${'A1'.repeat(12)}`;

function notes(approver?: () => { approved: boolean; modifiedArgs?: Record<string, unknown> }) {
  const ran: unknown[] = [];
  const tool = defineTool({
    name: 'note',
    description: 'Notes.',
    input: z.object({ text: z.string(), password: z.string().optional() }),
    ...(approver && { approval: () => 'It notes.' }),
    run: (input) => {
      ran.push(input);
      return ok(`noted ${input.text}`);
    },
  });
  const [store, vault] = [new MemoryStore(), new MemoryVault()];
  const asked: unknown[] = [];
  const toolwright = createToolwright({
    tools: [tool],
    store,
    vault,
    secrets: ['correct horse battery'],
    ...(approver && {
      approver: (request) => {
        asked.push(request);
        return approver();
      },
    }),
  });
  const events: unknown[] = [];
  toolwright.executor.on((event) => events.push(event));
  return {
    ...toolwright,
    store,
    vault,
    ran,
    asked,
    events,
    all: () => JSON.stringify([store.calls({}), store.events('local'), events]),
  };
}

describe('the record of a call', () => {
  test('hides tokens, known values and named secrets; the tool, its caller and the model get what is', async () => {
    const { call, ran, all, vault } = notes();
    const args = { text: `${TOKEN} and correct horse battery`, password: 'hunter2' };
    const result = await call('note', args);
    expect(ran).toEqual([args]);
    expect(result.text).toContain(TOKEN);
    for (const secret of [TOKEN, 'horse', 'hunter2']) expect(all()).not.toContain(secret);
    expect(all()).toContain('noted [redacted] and [redacted]');
    expect(vault.list()).toEqual([]);
  });

  test('a person is asked about what runs, and the record of the question hides it', async () => {
    const edited = { text: `edited ${TOKEN}` };
    const { call, ran, asked, all, vault } = notes(() => ({ approved: true, modifiedArgs: edited }));
    await call('note', { text: TOKEN });
    expect(JSON.stringify(asked)).toContain(TOKEN);
    expect(ran).toEqual([edited]);
    expect(all()).not.toContain(TOKEN);
    expect(vault.list()).toEqual([]);
  });

  test('what holds none is kept as it is', async () => {
    const { call, all } = notes();
    const plain = 'pk_user_accounts_table password: string; token = getToken(); sk-learn-is-a-library';
    await call('note', { text: plain });
    expect(all()).toContain(plain);
  });
});

test.each([
  [{ passwords: ['a', 'b'] }, { passwords: '[redacted]' }],
  [{ credentials: { user: 'ana', pin: 1234 } }, { credentials: '[redacted]' }],
  [{ deep: [{ password: 123456 }] }, { deep: [{ password: '[redacted]' }] }],
])('%j is recorded as %j', (args, shown) => {
  expect(createHider().hideArgs(args)).toEqual(shown);
});

test('counts, flags and what is empty are no secrets, whatever they are called', () => {
  const plain = { max_tokens: 100, pass: 2, token: '', auth: null, secret: true, cookies: [] };
  expect(createHider().hideArgs(plain)).toBe(plain);
});

test("somebody's own text that looks hidden is kept, so that the call can be taken over", () => {
  const args = { text: 'print [redacted] here' };
  const { hideArgs } = createHider();
  expect(hideArgs(args)).toEqual(args);
  expect(hideArgs(args)).not.toBe(args);
});

test('a secret in the place of a tool is hidden in the record too', async () => {
  const { call, all } = notes();
  await call(TOKEN, {});
  expect(all()).not.toContain(TOKEN);
  expect(all()).toContain('"tool":"[redacted]"');
});

test('a secret as a key is hidden in the record, and a repeat still gets the answer of the first call', async () => {
  const { executor, ran, all } = notes();
  const note = (key: string, text = 'a') =>
    executor.execute('note', { workingDir: '/', sessionId: 'local' }, { text }, { key });
  const key = `for ${TOKEN}`;
  const [first, repeated] = [await note(key), await note(key)];
  expect(repeated).toMatchObject({ ok: true, callId: first.callId });
  expect(await note(key, 'b')).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  expect(await note(`${key}0`)).toMatchObject({ ok: true });
  expect(ran).toHaveLength(2);
  expect(all()).not.toContain(TOKEN);
});

test('the log and what is told live know the values that the records hide', async () => {
  const value = 'correct horse battery';
  const tool = defineTool({
    name: 'loud',
    description: 'Tells what it was given.',
    input: z.object({ text: z.string() }),
    access: () => [],
    run: ({ text }, ctx) => {
      ctx.progress({ message: text, output: `out ${text}` });
      return fail('EXECUTION_ERROR', `it broke on ${text}`);
    },
  });
  const told: string[] = [];
  const log = (fields: object, message: string) => void told.push(JSON.stringify(fields) + message);
  const logger = { debug: log, info: log, warn: log, error: log, isLevelEnabled: () => true };
  const { call, executor } = createToolwright({ tools: [tool], logger, secrets: [value] });
  executor.on((event) => told.push(JSON.stringify(event)));
  await call('loud', { text: value });
  expect(told.join('\n')).not.toContain('horse');
  expect(told.join('\n')).toContain('it broke on [redacted]');
  expect(told.join('\n')).toContain('out [redacted]');
});

test('a longer value is hidden whole, and a hidden name is noticed', () => {
  const { hide } = createHider(['abcd1234', 'abcd1234efgh']);
  expect(hide('x abcd1234efgh')).toBe('x [redacted]');
  expect(wasHidden(hide({ env: { [TOKEN]: 'v' } }))).toBe(true);
});

test('a value that is learned later is hidden from then on, also where nothing was to hide before', () => {
  const hider = createHider(['abcd1234']);
  const args = { text: 'x abcd1234-new y' };
  const other = { text: 'late-one' };
  expect([hider.hide(other), hider.hideArgs(other)]).toEqual([other, other]);
  for (const value of ['abcd1234-new', 'late-one', 'ab']) hider.learn(value);
  expect(hider.hideArgs(args)).toEqual({ text: 'x [redacted] y' });
  expect([hider.hide(other), hider.hideArgs(other)]).toEqual([{ text: '[redacted]' }, { text: '[redacted]' }]);
  expect(hider.hide('absolute')).toBe('absolute');
});

test('values of the environment are known by the names of their variables', () => {
  const known = secretValues({
    ANTHROPIC_API_KEY: 'abcdefgh-1',
    PATH: '/usr/bin:/bin',
    DB_PASSWORD: 'ab',
    HOME: '/root',
    PWD: '/home/ana/project',
    OLDPWD: '/home/ana',
    DB_PWD: 'abcdefgh-2',
  });
  expect(known).toEqual(['abcdefgh-1', 'ab', 'abcdefgh-2']);
  const { hide } = createHider(known);
  expect(hide({ a: ['x abcdefgh-1 y'], b: 'absolute' })).toEqual({ a: ['x [redacted] y'], b: 'absolute' });
  const same = { deep: [{ text: 'nothing' }] };
  expect(hide(same)).toBe(same);
});

test('a store that says late that it took a call leaves nothing in the vault of one that has ended', async () => {
  const { store, vault } = notes();
  const late = new Proxy(store, {
    get(target, name) {
      if (name === 'submit') return () => delay(5, taken);
      const value = target[name as keyof MemoryStore];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const call = requestedCall({ args: { text: TOKEN } });
  const taken = store.submit({ ...call, args: { text: '[redacted]' } });
  const sealed = hideInStore(late, createHider(), vault);
  const submitted = sealed.submit(call);
  await sealed.move(...finished(call, { state: 'failed' }));
  await submitted;
  expect(vault.list()).toEqual([]);
});
