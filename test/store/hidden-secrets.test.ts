import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NewEvent } from '../../src/kernel/call/event.ts';
import type { Ledger } from '../../src/kernel/call/ledger.ts';
import { hideInStore } from '../../src/secrets/hide-in-store.ts';
import { createHider } from '../../src/secrets/hide-secrets.ts';
import { MemoryVault } from '../../src/secrets/vault.ts';
import { openStore } from '../../src/storage/open.ts';
import { AT, finished, requestedCall, started } from '../../src/testing/sample-calls.ts';

const secret = (of: string) => `ghp_${of.repeat(6)}${'a1B2'.repeat(9)}`;

let folder: string;
let store: Ledger;
let vault: MemoryVault;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sealed-'));
  const opened = await openStore({ directory: folder });
  if (!opened.ok) throw new Error(opened.error.message);
  vault = new MemoryVault();
  store = hideInStore(opened.value.store, createHider(), vault);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const [first, second] = [{ text: secret('x') }, { text: secret('y') }];

test('a request that the store refuses leaves the secrets of the earlier one', async () => {
  await store.submit(requestedCall({ id: 'same', key: 'k', args: first }));
  for (const id of ['same', 'other']) {
    const { event } = await store.submit(requestedCall({ id, key: 'k', args: second }));
    expect(event).toBeNull();
  }
  expect(await store.call('same')).toMatchObject({ args: first });
  expect(vault.list()).toEqual(['same']);
});

test('a refused end of a call forgets no secrets, an accepted one forgets all', async () => {
  const call = requestedCall({ id: 'one', args: first });
  await store.submit(call);
  const [id, move, event] = finished(call);
  expect(await store.move(id, { ...move, from: ['running'] }, event)).toBeNull();
  expect(await store.call('one')).toMatchObject({ args: first });
  const [, start, began] = started({ ...call, args: second });
  expect(await store.move(id, { ...start, from: ['queued'] }, began)).toBeNull();
  expect(await store.call('one')).toMatchObject({ args: first });
  await store.move(id, move, event);
  expect(vault.list()).toEqual([]);
});

test('an answer that comes too late does not replace the arguments of the one that counts', async () => {
  const call = requestedCall({ id: 'asked', args: first });
  await store.submit(call);
  const question = { approvalId: 'q', tool: call.tool, args: first, reason: 'It matters.', digest: 'd' };
  const waiting = { from: ['requested'], to: 'awaiting_approval' } as const;
  const asking = { type: 'approval.requested', callId: 'asked', at: AT, data: question } as const;
  await store.move('asked', waiting, asking);
  const answer = (args: unknown, digest: string): NewEvent<'approval.decided'> => ({
    type: 'approval.decided',
    callId: 'asked',
    at: AT,
    data: { approvalId: 'q', approved: true, by: 'ana', args, digest, changed: ['text'] },
  });
  expect(await store.decide(answer(second, 'e1'))).not.toBeNull();
  expect(await store.decide(answer({ text: secret('z') }, 'e2'))).toBeNull();
  expect(await store.approval('q')).toMatchObject({ args: first, edited: { args: second } });
});

test('events that belong to no call hide secrets too', async () => {
  const rule = `bash(curl ${secret('x')})`;
  await store.record({ type: 'rule.saved', at: AT, data: { ruleId: 'r', rule, verdict: 'allow', by: 'ana' } });
  const data = { workspace: 'w', title: secret('y'), agent: null, by: null };
  await store.note('s1', { type: 'session.created', callId: null, at: AT, data });
  expect(JSON.stringify(await store.log(0, 10))).not.toContain('ghp_');
});
