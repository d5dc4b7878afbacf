import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { EventClient } from './event-client.ts';
import { EventTopic, frameOf } from './event-topic.ts';

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
  const client = new EventClient(out as unknown as ServerResponse, { topic, replay, after: null });
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
