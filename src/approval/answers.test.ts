import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger } from '../kernel/call/ledger.ts';
import { fail, ok } from '../kernel/result.ts';
import { openStore } from '../storage/open.ts';
import { asked, requestedCall } from '../testing/sample-calls.ts';
import { createAnswers } from './answers.ts';

let folder: string;
let store: Ledger;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'answers-'));
  const opened = await openStore({ directory: folder });
  if (!opened.ok) throw new Error(opened.error.message);
  store = opened.value.store;
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

test('"always" is one write: a store that takes nothing after the yes has its rules too', async () => {
  const call = requestedCall();
  await store.submit(call);
  await store.move(...asked(call, 'q'));
  const proposal = { rules: ['write_file(a)', 'write_file(b)'], covers: [], workspace: 'here' };
  const review = async () => fail('INVALID_INPUT', 'nothing is edited here');
  const answers = createAnswers({ ledger: store, review, propose: () => ok(proposal) });
  store.record = () => Promise.reject(new Error('the disk is full'));
  expect(await answers.approve('q', 'ana', { always: true })).toMatchObject({ kind: 'answered' });
  const saved = (await store.rules()).map(({ rule, by, workspace }) => ({ rule, by, workspace }));
  saved.sort((a, b) => a.rule.localeCompare(b.rule));
  expect(saved).toEqual(proposal.rules.map((rule) => ({ rule, by: 'ana', workspace: 'here' })));
});
