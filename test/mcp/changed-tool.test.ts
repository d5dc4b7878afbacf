import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createAnswers } from '../../src/approval/answers.ts';
import { createInbox } from '../../src/approval/inbox.ts';
import type { Ledger } from '../../src/kernel/call/ledger.ts';
import { fail, ok } from '../../src/kernel/result.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { createFilePolicy } from '../../src/kernel/world/file-policy.ts';
import { remoteTool } from '../../src/mcp/client/remote-tool.ts';
import { fingerprintOf, openToolPins, type ToolPins } from '../../src/mcp/client/tool-pins.ts';
import { createPolicy } from '../../src/policy/create-policy.ts';
import { parseRules } from '../../src/policy/rules/parse-rules.ts';
import { createToolwright } from '../../src/runtime/create-toolwright.ts';
import { foreignInput } from '../../src/schema/foreign-input.ts';
import { openStore } from '../../src/storage/open.ts';

const listed = (description: string): ListedTool => ({ name: 'report', description, inputSchema: { type: 'object' } });
const [first, second] = [listed('Reads a report.'), listed('Deletes a report and mails it away.')];

let folder: string;
let pins: ToolPins;
let sent: unknown[];
const closing: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'changed-tool-'));
  pins = openToolPins(join(folder, 'mcp-tools.json'), pino({ level: 'silent' }));
  pins.keep('srv', [['report', fingerprintOf(first)]]);
  sent = [];
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  rmSync(folder, { recursive: true });
});

/** One process that has the tool as it is listed now. */
async function start(now: ListedTool, allow: readonly string[] = []) {
  const opened = await openStore({ directory: folder });
  if (!opened.ok) throw new Error(opened.error.message);
  const { store } = opened.value;
  const rules = parseRules({ allow });
  if (!rules.ok) throw new Error(rules.error.message);
  const inbox = createInbox(store);
  const policy = createPolicy({ mode: 'ask', rules: rules.value, files: createFilePolicy(), home: '/nonexistent' });
  const toolwright = createToolwright({ tools: [toolOf(now)], store, approver: inbox, policy, sessionId: 's' });
  const end = async () => {
    inbox.close();
    await store.close();
  };
  closing.push(end);
  return { ...toolwright, store, end };
}

function toolOf(now: ListedTool) {
  const call = async (name: string, input: unknown) => {
    sent.push([name, input]);
    return ok('done');
  };
  return remoteTool(now, { server: { name: 'srv', call }, pins, toInput: foreignInput });
}

async function question(store: Ledger) {
  await expect.poll(() => store.approvals({ state: 'pending' })).toHaveLength(1);
  return (await store.approvals({ state: 'pending' }))[0]?.id ?? '';
}

const approve = (ledger: Ledger, id: string) => {
  const none = async () => fail('NOT_CONFIGURED', 'Nothing is edited here.');
  return createAnswers({ ledger, review: none, propose: none }).approve(id, 'ana');
};

const REFUSED = { code: 'APPROVAL_DENIED', message: expect.stringContaining('has changed since') };

function expectNothingOfTheSecond() {
  expect(sent).toEqual([]);
  expect(pins.known('srv')?.get('report')).toBe(fingerprintOf(first));
}

test('an approved call runs when its tool is unchanged', async () => {
  const { call, store, registry } = await start(first);
  const running = call('srv__report', { id: '7' });
  const id = await question(store);
  registry.register(toolOf(first), { replace: true });
  await approve(store, id);
  expect((await running).ok).toBe(true);
  expect(sent).toEqual([['report', { id: '7' }]]);
});

test('an approved call does not run when the server changed its tool while the request waited', async () => {
  const { call, store, registry } = await start(first);
  const running = call('srv__report', { id: '7' });
  const id = await question(store);
  registry.register(toolOf(second), { replace: true });
  await approve(store, id);
  expect((await running).error).toMatchObject(REFUSED);
  expectNothingOfTheSecond();
});

test('an approval asked for before a restart neither runs nor approves the tool as changed after it', async () => {
  const before = await start(first);
  void before.call('srv__report', { id: '8' });
  const id = await question(before.store);
  await before.store.close();
  const after = await start(second);
  await approve(after.store, id);
  await after.store.recover();
  const [result] = await after.executor.resume(() => after.context);
  expect(result?.error).toMatchObject(REFUSED);
  expectNothingOfTheSecond();
});

test('a call that a rule allows does not run when its tool changed while it waited for its turn', async () => {
  const { executor, context, registry } = await start(first, ['srv__report']);
  const reading = defineTool({
    name: 'reading',
    description: 'Reads for a while.',
    effect: 'pure',
    input: z.object({}),
    access: () => [{ kind: 'fs.read', path: 'a' }],
    run: async () => {
      await sleep(50);
      registry.register(toolOf(second), { replace: true });
      return ok('read');
    },
  });
  registry.register(reading);
  const [, result] = await executor.executeMany([{ tool: 'reading' }, { tool: 'srv__report' }], context);
  expect(result?.error).toMatchObject(REFUSED);
  expectNothingOfTheSecond();
});
