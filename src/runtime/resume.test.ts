import { expect, test } from 'vitest';
import { z } from 'zod';
import { ok } from '../kernel/result.ts';
import { defineTool } from '../kernel/tool.ts';
import { createToolwright } from './create-toolwright.ts';
import { MemoryStore } from './memory-store.ts';

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
