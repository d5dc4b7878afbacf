import type { ServerResponse } from 'node:http';
import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { EventClient } from './event-client.ts';
import { type EventFrame, EventTopic, frameOf } from './event-topic.ts';

test('a slow reader who asked for what comes next is sent what it missed of that, and nothing older', async () => {
  const sent: string[] = [];
  let reads = () => {};
  const out = new Writable({
    highWaterMark: 1024,
    write(chunk, _, done) {
      sent.push(String(chunk));
      reads = done;
    },
  });
  const topic = new EventTopic();
  const replayed: number[] = [];
  const replay = async (after: number) => {
    replayed.push(after);
    return after < 8 ? [frameOf('call.finished', { missed: true }, 8)] : [];
  };
  const client = new EventClient(out as unknown as ServerResponse, { topic, replay, after: null, place: 'kept' });
  const tell = (id: number | null, data: unknown) => {
    topic.add(frameOf(id === null ? 'call.progressed' : 'call.finished', data, id));
    topic.flush();
  };
  const readAll = async () => {
    while (out.writableLength > 0) {
      reads();
      await new Promise(setImmediate);
    }
  };

  tell(null, 'x'.repeat(70_000));
  tell(null, 'y'.repeat(70_000));
  await readAll();
  expect(replayed).toEqual([]);
  tell(null, 'loud again'.repeat(10_000));
  tell(8, { missed: true });
  await readAll();
  expect(replayed[0]).toBe(7);
  expect(sent.join('')).toContain('id: 8');
  tell(9, { last: true });
  await readAll();
  expect(sent.join('').match(/^id: .*$/gm)).toEqual(['id: 8', 'id: 9']);
  client.close();
});

test.each([
  { gone: 'everything', at: 0, told: 5, left: [], heard: ['reset 0', '6'] },
  { gone: 'all that a slow reader had still to read', at: 40, told: 50, left: [], heard: ['reset 40', '51'] },
  { gone: 'the first of that', at: 40, told: 50, left: [49, 50], heard: ['reset 40', '49', '50', '51'] },
  { gone: 'here and there something', at: 1, told: 9, left: [2, 5, 8], heard: ['2', 'reset 2', '5', '8', '10'] },
])('where $gone was pruned, a reader is told so once and goes on', async ({ at, told, left, heard }) => {
  const out = new PassThrough();
  const topic = new EventTopic();
  topic.told = told;
  let reads = 0;
  const replay = async (after: number): Promise<EventFrame[]> => {
    // Without this bound an endless read would hang the test.
    if (++reads > 1000) throw new Error('reads on and on');
    return left.filter((id) => id > after).map((id) => frameOf('call.finished', {}, id));
  };
  const client = new EventClient(out as unknown as ServerResponse, { topic, replay, after: at, place: 'kept' });
  await expect.poll(() => reads).toBeGreaterThan(left.length > 0 ? 1 : 0);
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  topic.add(frameOf('call.finished', {}, told + 1));
  topic.flush();
  client.close();
  out.end();
  const text = (await out.toArray()).join('');
  const lines = [...text.matchAll(/^id: (\d+)$|"data":\{"after":(\d+)\}/gm)];
  expect(lines.map(([, id, after]) => id ?? `reset ${after}`)).toEqual(heard);
});

test('large events wait in the store for a reader that reads nothing, and come one after the other when it does', async () => {
  const sent: string[] = [];
  let reads: (() => void) | undefined;
  const out = new Writable({
    highWaterMark: 1024,
    write(chunk, _, done) {
      sent.push(String(chunk).slice(0, 8));
      reads = done;
    },
  });
  let loaded = 0;
  const replay = async (after: number, limit: number) => {
    const ids = Array.from({ length: 24 }, (_, index) => index + 1).filter((id) => id > after);
    loaded += Math.min(ids.length, limit);
    return ids.slice(0, limit).map((id) => frameOf('message.added', 'x'.repeat(1_000_000), id));
  };
  const parts = { topic: new EventTopic(), replay, after: 0, place: 'kept' } as const;
  const client = new EventClient(out as unknown as ServerResponse, parts);
  await expect.poll(() => sent.length).toBe(1);
  expect(out.writableLength).toBeLessThan(1_100_000);
  while (reads !== undefined && sent.length < 24) {
    reads();
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    expect(out.writableLength).toBeLessThan(1_100_000);
  }
  expect(sent.map((head) => /^id: (\d+)\n/.exec(head)?.[1])).toEqual(
    Array.from({ length: 24 }, (_, id) => `${id + 1}`),
  );
  expect(loaded).toBeLessThan(24 * 3);
  client.close();
});
