import { expect, test } from 'vitest';
import { z } from 'zod';
import type { LogEvent } from '../../kernel/call/event.ts';
import { ok, type Result } from '../../kernel/result.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { requestedCall } from '../../testing/sample-calls.ts';
import { createToolwright } from '../create-toolwright.ts';
import { MemoryStore } from '../memory/memory-store.ts';

/** As a store that several processes share: it can be followed, and looks after ended ones. */
class SharedStore extends MemoryStore {
  readonly followers = new Set<(event: LogEvent) => void>();
  recovered = 0;

  follow(listener: (event: LogEvent) => void): () => void {
    this.followers.add(listener);
    return () => this.followers.delete(listener);
  }

  recover(): readonly never[] {
    this.recovered++;
    return [];
  }
}

const greet = defineTool({
  name: 'greet',
  description: 'Greets.',
  input: z.object({ name: z.string().default('you') }),
  access: () => [],
  run: ({ name }) => ok(`hello ${name}`),
});

test('a wait for an earlier call that is cancelled leaves nothing behind', async () => {
  const store = new SharedStore();
  store.submit(requestedCall({ id: 'first', tool: 'greet', args: {}, key: 'k', session: 's' }));
  const { call } = createToolwright({ tools: [greet], store, sessionId: 's' });
  const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const nobody = new AbortController();
  const waiting = call('greet', {}, { key: 'k', signal: nobody.signal });
  await expect.poll(() => store.followers.size).toBe(1);
  nobody.abort();
  expect(await waiting).toMatchObject({ ok: false, callId: 'first', error: { code: 'CANCELLED' } });
  expect(store.followers.size).toBe(0);
  expect(store.recovered).toBe(1);
  expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length).toBe(before);
});

test('who loses a takeover gets the answer of who won, and is told once of which call', async () => {
  const store = new MemoryStore();
  let runs = 0;
  const slow = defineTool({
    name: 'slow',
    description: 'Does not end when it first runs.',
    input: z.object({ name: z.string().default('you') }),
    access: () => [],
    run: ({ name }) => (runs++ === 0 ? new Promise<Result<string>>(() => {}) : ok(`hello ${name}`)),
  });
  const { call } = createToolwright({ tools: [slow], store, sessionId: 's' });
  const ended = new AbortController();
  const left = call('slow', {}, { key: 'k', id: 'left', signal: ended.signal });
  await expect.poll(() => store.call('left')?.state).toBe('running');
  // With the default among its arguments, as it ran.
  const data = { tool: 'slow', attempt: 1, reason: 'its process ended' };
  const event = { type: 'call.requeued', callId: 'left', at: 1, data } as const;
  store.move('left', { from: ['running'], to: 'queued' }, event);
  const told: string[] = [];
  const onRecorded = (id: string) => {
    told.push(id);
    throw new Error('nobody is there');
  };
  const repeated = await Promise.all([1, 2].map(() => call('slow', {}, { key: 'k', onRecorded })));
  expect(repeated).toMatchObject([
    { ok: true, callId: 'left', value: 'hello you' },
    { ok: true, callId: 'left', value: 'hello you' },
  ]);
  expect(runs).toBe(2);
  expect(told).toEqual(['left', 'left']);
  ended.abort();
  await left;
});
