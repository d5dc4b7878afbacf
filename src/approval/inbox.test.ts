import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger } from '../kernel/call/ledger.ts';
import type { ApprovalRequest } from '../kernel/ports.ts';
import { openStore } from '../storage/open.ts';
import { AT, requestedCall } from '../testing/sample-calls.ts';
import { createInbox } from './inbox.ts';

let folder: string;
let store: Ledger;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'inbox-'));
  const opened = await openStore({ directory: folder });
  if (!opened.ok) throw new Error(opened.error.message);
  store = opened.value.store;
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function question(id: string): Promise<ApprovalRequest> {
  await store.submit(requestedCall({ id }));
  const data = { approvalId: `q-${id}`, tool: 'read_file', args: {}, reason: 'It matters.', digest: 'd' };
  const event = { type: 'approval.requested', callId: id, at: AT, data } as const;
  await store.move(id, { from: ['requested'], to: 'awaiting_approval' }, event);
  return { id: `q-${id}`, session: 's1' } as ApprovalRequest;
}

test('an answer that cannot be read is told to whoever asked, as no yes', async () => {
  const inbox = createInbox(store);
  const asked = inbox.ask(await question('one'), new AbortController().signal);
  const told = expect(asked).rejects.toThrow('the disk is gone');
  await new Promise(setImmediate);
  store.approval = () => Promise.reject(new Error('the disk is gone'));
  const data = { approvalId: 'q-one', approved: true, by: 'ana', args: { path: 'b' }, digest: 'e', changed: ['path'] };
  await store.decide({ type: 'approval.decided', callId: 'one', at: AT, data });
  await told;
  inbox.close();
});
