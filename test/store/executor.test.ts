import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { Event } from '../../src/kernel/call/event.ts';
import { fail, ok } from '../../src/kernel/result.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { createToolwright, type Toolwright } from '../../src/runtime/create-toolwright.ts';
import { openStore } from '../../src/storage/open.ts';
import type { OpenStore } from '../../src/storage/store-and-blobs.ts';
import { asked, decided, requestedCall, started } from '../../src/testing/sample-calls.ts';

let folder: string;
let kept: OpenStore;
let runs: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'executor-'));
  runs = 0;
  await open();
});
afterEach(async () => {
  await kept.store.close();
  rmSync(folder, { recursive: true });
});

async function open(): Promise<void> {
  const opened = await openStore({ directory: folder });
  if (!opened.ok) throw new Error(opened.error.message);
  kept = opened.value;
}

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  input: z.object({ text: z.string() }),
  access: () => [],
  run({ text }) {
    runs++;
    return text === 'bad' ? fail('FILE_NOT_FOUND', 'There is no bad.') : ok(text);
  },
});
const guarded = defineTool({
  name: 'guarded',
  description: 'Wants to be asked.',
  input: z.object({}),
  access: () => [],
  approval: () => 'It matters.',
  run: () => ok('done'),
});

function app(): Toolwright {
  return createToolwright({
    tools: [echo, guarded],
    store: kept.store,
    blobs: kept.blobs,
    sessionId: 's1',
    maxOutputSize: 1000,
    approver: () => ({ approved: true, by: 'ann' }),
  });
}

test('every event is stored before listeners get it, and each call has one end', async () => {
  const { executor, call } = app();
  const early: Promise<unknown>[] = [];
  const ends: string[] = [];
  executor.on((event: Event) => {
    if (!('seq' in event)) return;
    early.push(
      Promise.resolve(kept.store.events('s1', event.seq - 1, 1)).then(([stored]) => expect(stored).toEqual(event)),
    );
    if (event.type === 'call.finished') ends.push(event.callId);
  });
  await Promise.all([
    call('echo', { text: 'a' }),
    call('echo', { text: 'bad' }),
    call('nobody'),
    call('echo', {}),
    call('guarded'),
  ]);
  await Promise.all(early);
  expect(early.length).toBe(3 + 3 + 2 + 2 + 5);
  expect(new Set(ends).size).toBe(5);
  expect((await kept.store.verify()).problems).toEqual([]);
});

test('history is read from the store, also by the next process', async () => {
  const before = app();
  await before.call('echo', { text: 'a' });
  await before.call('echo', { text: 'bad' });
  await before.call('guarded');
  await kept.store.close();
  await open();
  const { items } = await app().executor.history({ session: 's1' });
  expect(items.map(({ tool, state, args, outcome }) => [tool, state, args, outcome?.text])).toEqual([
    ['echo', 'succeeded', { text: 'a' }, 'a'],
    ['echo', 'failed', { text: 'bad' }, 'Error: There is no bad.'],
    ['guarded', 'succeeded', {}, 'done'],
  ]);
  expect(await kept.store.approvals({})).toMatchObject([{ tool: 'guarded', state: 'approved', decidedBy: 'ann' }]);
});

test('a repeated key gives the recorded answer, also in the next process', async () => {
  const first = await app().call('echo', { text: 'a' }, { key: 'k1' });
  await kept.store.close();
  await open();
  const again = await app().call('echo', { text: 'a' }, { key: 'k1' });
  expect([again.callId, again.text, runs]).toEqual([first.callId, 'a', 1]);
  expect(again.metadata).toMatchObject({ repeated: true });
});

test('a repeated key with another request is refused and named, also in the next process', async () => {
  await app().call('echo', { text: 'a' }, { key: 'k1' });
  await kept.store.close();
  await open();
  const { call } = app();
  for (const other of [call('echo', { text: 'b' }, { key: 'k1' }), call('guarded', {}, { key: 'k1' })]) {
    expect(await other).toMatchObject({ ok: false, error: { code: 'CONFLICT', details: { key: 'k1' } } });
    expect((await other).text).toContain('"k1" was used before');
  }
  expect(runs).toBe(1);
  expect((await kept.store.calls({})).items.length).toBe(1);
});

test('output truncated for the model is kept in full with the call', async () => {
  const text = 'line\n'.repeat(5000);
  const result = await app().call('echo', { text });
  expect(result.text.length).toBeLessThan(1200);
  const handle = String(result.metadata.artifact);
  await kept.store.close();
  await open();
  const artifact = await kept.blobs.get(handle);
  expect(artifact.ok && Buffer.from(artifact.value).toString()).toBe(text);
});

test('a missing store gives a clear message, and nothing runs', async () => {
  const { call } = app();
  await kept.store.close();
  const result = await call('echo', { text: 'a' });
  expect(result).toMatchObject({ ok: false, error: { code: 'INTERNAL' } });
  expect(runs).toBe(0);
  await open();
});

test('the first decision wins: an approver that answers after another door does not count', async () => {
  const { store, blobs } = kept;
  const { call } = createToolwright({
    tools: [guarded],
    store,
    blobs,
    approver: async ({ id, stepId }) => {
      const data = { approvalId: id, approved: false, by: 'bob' };
      await store.decide({ type: 'approval.decided', callId: stepId, at: Date.now(), data });
      return { approved: true, by: 'ann' };
    },
  });
  expect((await call('guarded')).error).toMatchObject({
    code: 'APPROVAL_DENIED',
    message: expect.stringContaining('answered elsewhere'),
  });
  expect(await store.approvals({})).toMatchObject([{ state: 'denied', decidedBy: 'bob' }]);
  expect((await store.verify()).problems).toEqual([]);
});

test.each([
  ['a yes', { approved: true, by: 'ann' }],
  ['the end of the time to answer', undefined],
])('a yes of another door counts although %s comes after it, before it was heard of', async (_, after) => {
  const { store, blobs } = kept;
  let aborted: boolean | undefined;
  let question: AbortSignal | undefined;
  const guardedEcho = defineTool({
    name: 'guarded_echo',
    description: 'Wants to be asked.',
    input: z.object({ text: z.string() }),
    access: () => [],
    approval: () => 'It matters.',
    run({ text }, { signal }) {
      aborted = signal.aborted;
      return ok(text);
    },
  });
  const { call } = createToolwright({
    tools: [guardedEcho],
    store,
    blobs,
    approvalTimeout: 2,
    approver: async ({ id, stepId }, signal) => {
      question = signal;
      const data = { approvalId: id, approved: true, by: 'bob' };
      await store.decide({ type: 'approval.decided', callId: stepId, at: Date.now(), data });
      return after ?? new Promise<never>(() => {});
    },
  });
  expect(await call('guarded_echo', { text: 'a' })).toMatchObject({ ok: true, value: 'a' });
  expect([aborted, question?.aborted]).toEqual([false, after === undefined]);
  expect(await store.history({})).toMatchObject({ items: [{ state: 'succeeded', approvedBy: 'bob' }] });
});

test('a denial counts although another door approved the call before it', async () => {
  const { store, blobs } = kept;
  const { call } = createToolwright({
    tools: [guarded],
    store,
    blobs,
    approver: async ({ id, stepId }) => {
      const data = { approvalId: id, approved: true, by: 'bob' };
      await store.decide({ type: 'approval.decided', callId: stepId, at: Date.now(), data });
      return { approved: false, by: 'ann' };
    },
  });
  expect((await call('guarded')).error?.code).toBe('APPROVAL_DENIED');
});

test('the deadline of a request is in the store, so that it expires although this process does not end it', async () => {
  const { store, blobs } = kept;
  const asked = new Promise<void>((resolve) => {
    const approver = () => (resolve(), new Promise<never>(() => {}));
    void createToolwright({ tools: [guarded], store, blobs, approvalTimeout: 0.2, approver }).call('guarded');
  });
  await asked;
  const [approval] = await store.approvals({ state: 'pending' });
  const left = (approval?.expiresAt ?? 0) - (await store.now());
  expect(left).toBeGreaterThan(-100);
  expect(left).toBeLessThanOrEqual(200);
  await expect.poll(async () => (await store.approvals({ state: 'pending' })).length, { timeout: 3000 }).toBe(0);
});

test('a repeated request takes over from a process that ended, with nobody else there to help', async () => {
  const program = `
    import { openStore } from ${JSON.stringify(join(import.meta.dirname, '../../src/storage/open.ts'))};
    const { value } = await openStore({ directory: ${JSON.stringify(folder)} });
    await value.store.submit({ id: 'left', session: 's1', agent: null, tool: 'echo', args: { text: 'hi' }, key: 'k',
      effect: 'once', state: 'requested', requestedAt: Date.now(), startedAt: null, finishedAt: null, durationMs: null, outcome: null });
    process.kill(process.pid, 'SIGKILL');
  `;
  const file = join(folder, 'left-behind.mts');
  writeFileSync(file, program);
  const tsx = new URL('../../node_modules/tsx/dist/loader.mjs', import.meta.url).href;
  const ended = await new Promise((resolve) => {
    spawn(process.execPath, ['--import', tsx, file], { stdio: 'inherit' }).once('exit', (_, signal) => resolve(signal));
  });
  expect(ended).toBe('SIGKILL');
  const result = await app().call('echo', { text: 'hi' }, { key: 'k' });
  expect(result).toMatchObject({ callId: 'left', output: 'hi' });
  expect(runs).toBe(1);
});

test('an approval of edited arguments never approves the original ones, also when its process ended', async () => {
  const ran: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const access = () => [{ kind: 'fs.write', path: 'a' }] as const;
  const slow = defineTool({
    name: 'slow',
    description: 'Is in the way.',
    input: z.object({}),
    access,
    run: () => held.then(() => ok('done')),
  });
  const note = defineTool({
    name: 'note',
    description: 'Writes a note.',
    effect: 'idempotent',
    input: z.object({ text: z.string() }),
    access,
    approval: () => 'It writes.',
    run: ({ text }) => ok(ran.push(text)),
  });
  const given = { tools: [slow, note], sessionId: 's1' };
  const approver = () => ({ approved: true, by: 'ann', modifiedArgs: { text: 'edited' } });
  const first = createToolwright({ ...given, store: kept.store, approver });
  const calls = [first.call('slow', {}), first.call('note', { text: 'as asked' })];
  const isDecided = async () => (await kept.store.events('s1')).some(({ type }) => type === 'approval.decided');
  await expect.poll(isDecided).toBe(true);
  await kept.store.close();
  release();
  await Promise.all(calls);
  await open();
  await kept.store.recover();
  const second = createToolwright({ ...given, store: kept.store, approver: () => ({ approved: false }) });
  await second.executor.resume(() => second.context);
  expect(ran).toEqual([]);
  const [approval] = await kept.store.approvals({});
  expect(approval).toMatchObject({ state: 'approved', edited: { args: { text: 'edited' }, changed: ['text'] } });
});

test('a denial stays a denial, also for a call that had started in an earlier process', async () => {
  const tool = defineTool({
    name: 'again',
    description: 'May run again.',
    effect: 'idempotent',
    input: z.object({}),
    access: () => [],
    run: () => ok(++runs),
  });
  const call = requestedCall({ tool: 'again', args: {}, effect: 'idempotent' });
  await kept.store.submit(call);
  await kept.store.move(...started(call));
  const next = async () => {
    await kept.store.close();
    await open();
    await kept.store.recover();
  };
  await next();
  const resumed = { type: 'call.resumed', callId: call.id, at: 1, data: { tool: 'again', attempt: 1 } } as const;
  await kept.store.move(call.id, { from: ['queued'], to: 'requested' }, resumed);
  await kept.store.move(...asked(call, 'q1'));
  await next();
  await kept.store.decide(decided(call, 'q1', { approved: false }));
  await next();
  const { executor, context } = createToolwright({ tools: [tool], store: kept.store });
  await executor.resume(() => context);
  expect([(await kept.store.call(call.id))?.state, runs]).toEqual(['denied', 0]);
});
