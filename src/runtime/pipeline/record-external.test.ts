import { expect, test } from 'vitest';
import { ok } from '../../kernel/result.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { recordExternal } from './record-external.ts';

const deed = { id: 'd1', session: 's1', action: 'person:save', args: { by: 'ann', path: 'a.txt' } } as const;

test('what a person does is running while it is done, so that nobody takes it over, and ends with its outcome', async () => {
  const store = new MemoryStore();
  const done = await recordExternal(store, deed, async () => {
    expect(store.call('d1')).toMatchObject({ state: 'running', startedAt: expect.any(Number) });
    return ok('saved');
  });
  expect(done).toMatchObject({ ok: true, value: 'saved' });
  expect(store.call('d1')).toMatchObject({ state: 'succeeded', outcome: { text: 'ann did it by hand.' } });
});

test('one that breaks ends as failed', async () => {
  const store = new MemoryStore();
  const broken = recordExternal(store, deed, () => Promise.reject(new Error('no disk')));
  await expect(broken).rejects.toThrow('no disk');
  expect(store.call('d1')).toMatchObject({ state: 'failed', outcome: { error: { message: 'no disk' } } });
});
