import { expect, test } from 'vitest';
import { z } from 'zod';
import { ok, type Result } from '../../kernel/result.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { requestedCall } from '../../testing/sample-calls.ts';
import { createToolwright } from '../create-toolwright.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { LiveCalls } from '../order/live-calls.ts';

test('a dry run that an ended process left behind is taken over as one', async () => {
  const ran: string[] = [];
  const note = defineTool({
    name: 'note',
    description: 'Notes a text.',
    effect: 'idempotent',
    input: z.object({ text: z.string() }),
    access: () => [],
    run: ({ text }) => ok(ran.push(text)),
  });
  const store = new MemoryStore();
  let left: Parameters<MemoryStore['submit']>[0] | undefined;
  const submit = store.submit.bind(store);
  store.submit = (call) => {
    left = { ...call };
    return submit(call);
  };
  const first = createToolwright({ tools: [note], store });
  const dry = { workingDir: '.', sessionId: 's', dryRun: true };
  await first.executor.execute('note', dry, { text: 'dry' });
  if (left === undefined) throw new Error('nothing was recorded');

  const after = new MemoryStore();
  await after.submit({ ...left, id: 'left' });
  const data = { tool: 'note', attempt: 0, reason: 'its process ended' };
  const event = { type: 'call.requeued', callId: 'left', at: 1, data } as const;
  await after.move('left', { from: ['requested'], to: 'queued' }, event);
  const second = createToolwright({ tools: [note], store: after });
  const [result] = await second.executor.resume(() => second.context);
  expect(result?.text).toContain('[Dry Run]');
  expect(ran).toEqual([]);
});

test('a call that is taken over under its key can be stopped by its own id', async () => {
  const wait = defineTool({
    name: 'wait',
    description: 'Waits until it is stopped.',
    input: z.object({}),
    access: () => [],
    run: (_, { signal }) =>
      new Promise<Result<string>>((resolve) => signal.addEventListener('abort', () => resolve(ok('stopped')))),
  });
  const store = new MemoryStore();
  store.submit(requestedCall({ id: 'left', tool: 'wait', args: {}, key: 'k', session: 's' }));
  const data = { tool: 'wait', attempt: 0, reason: 'its process ended' };
  const event = { type: 'call.requeued', callId: 'left', at: 1, data } as const;
  store.move('left', { from: ['requested'], to: 'queued' }, event);
  const live = new LiveCalls();
  const { call } = createToolwright({ tools: [wait], store, live, sessionId: 's' });
  const running = call('wait', {}, { key: 'k' });
  await expect.poll(() => store.call('left')?.state).toBe('running');
  expect(live.ids()).toContain('left');
  expect(live.cancel('left')).toBe(true);
  expect(await running).toMatchObject({ ok: false, callId: 'left', error: { code: 'CANCELLED' } });
  expect(live.ids()).toEqual([]);
});
