import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createHeadless } from '../../src/approval/headless.ts';
import type { ToolwrightOptions } from '../../src/runtime/create-toolwright.ts';
import { commandWorkspace } from '../../src/testing/command-workspace.ts';
import type { TempWorkspace } from '../../src/testing/temp-workspace.ts';

const open = (options: ToolwrightOptions) =>
  commandWorkspace({ path: '/usr/local/bin:/usr/bin:/bin', files: { 'a.txt': 'one\n' }, options });
const COMMAND = { command: 'echo x >>a.txt' };

async function pendingIn({ world, root }: TempWorkspace): Promise<string[]> {
  const pending = (await world.stages?.({} as never).list({ workspace: root })) ?? [];
  return pending.map(({ id }) => id);
}

async function reasonIn(ws: TempWorkspace): Promise<string> {
  const { value } = await ws.call('bash', COMMAND);
  const { changed } = value as { changed: { state: string; reason: string } };
  expect([changed.state, readFileSync(ws.file('a.txt'), 'utf8')]).toEqual(['discarded', 'one\n']);
  return changed.reason;
}

test.each<[string, ToolwrightOptions]>([
  ['a person says no', { approver: () => ({ approved: false }) }],
  ['nobody answers in time', { approver: () => new Promise<never>(() => {}), approvalTimeout: 0.1 }],
  ['nobody can be asked', { approver: createHeadless(async () => null) }],
])('changes are discarded when %s', async (_when, options) => {
  await using ws = await open(options);
  expect(await reasonIn(ws)).not.toContain('pending');
  expect(await pendingIn(ws)).toEqual([]);
});

test('changes are discarded when the call is cancelled while a person is asked', async () => {
  const stop = new AbortController();
  let asked = 0;
  await using ws = await open({
    approver() {
      asked++;
      stop.abort();
      return new Promise<never>(() => {});
    },
  });
  expect((await ws.toolwright.call('bash', COMMAND, { signal: stop.signal })).error?.code).toBe('CANCELLED');
  await expect.poll(() => pendingIn(ws)).toEqual([]);
  expect(asked).toBe(1);
});

test('changes stay pending, with the next step, when something else than a person stands in the way', async () => {
  const guard: NonNullable<ToolwrightOptions['hooks']>[number] = {
    name: 'guard',
    before({ tool }) {
      if (tool === 'apply_changes') throw new Error('out of order');
      return undefined;
    },
  };
  await using ws = await open({ hooks: [guard], approver: () => ({ approved: true }) });
  const reason = await reasonIn(ws);
  const [pending] = await pendingIn(ws);
  expect(reason).toMatch(/out of order/);
  expect(reason).toContain(`toolwright keep ${pending}`);
});
