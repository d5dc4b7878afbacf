import { expect, test } from 'vitest';
import type { RecordedEvent, StreamEvent } from '../../src/protocol/events.ts';
import { createFeeds } from './feeds.ts';

const PAGE = 3;
const said = (seq: number): RecordedEvent => ({
  ...{ type: 'message.added', session: 's', seq, pos: seq, at: seq, callId: null },
  data: { messageId: `m${seq}`, role: 'user', text: 'hi' },
});

/** A record that grows, read over a line on which each page comes when the test says so. */
function slowRecord() {
  const record: RecordedEvent[] = [];
  const pages: (() => void)[] = [];
  const feeds = createFeeds(async (_, after) => {
    const events = record.filter(({ seq }) => seq > after).slice(0, PAGE);
    await new Promise<void>((resolve) => pages.push(resolve));
    return { events, isLast: events.length < PAGE };
  });
  return {
    record,
    feeds,
    /** Lets the next page through. */
    async page(): Promise<void> {
      await expect.poll(() => pages.length).toBeGreaterThan(0);
      pages.shift()?.();
    },
    asked: () => pages.length,
    shown: () =>
      feeds.all
        .get()
        .get('s')
        ?.items.map(({ seq }) => seq),
  };
}

test('events that arrive while a session is read are neither lost nor applied too early', async () => {
  const { record, feeds, page, shown } = slowRecord();
  record.push(said(1), said(2), said(3), said(4));
  const opened = feeds.read('s');
  await page();
  await expect.poll(shown).toEqual([1, 2, 3]);
  record.push(said(5));
  feeds.apply([said(5)]);
  expect(shown()).toEqual([1, 2, 3]);
  await page();
  await page();
  await opened;
  expect(shown()).toEqual([1, 2, 3, 4, 5]);
});

test('events that arrive before the first page are read after it', async () => {
  const { record, feeds, page, shown } = slowRecord();
  record.push(said(1));
  const opened = feeds.read('s');
  await Promise.resolve();
  record.push(said(2));
  feeds.apply([said(2)]);
  await page();
  await page();
  await opened;
  expect(shown()).toEqual([1, 2]);
});

test('a gap in the numbers makes the record be read; other events are applied directly', async () => {
  const { record, feeds, page, asked, shown } = slowRecord();
  record.push(said(1));
  const opened = feeds.read('s');
  await page();
  await opened;
  feeds.apply([said(2)]);
  expect([shown(), asked()]).toEqual([[1, 2], 0]);
  record.push(said(2), said(3), said(4));
  feeds.apply([said(4)]);
  await page();
  await expect.poll(shown).toEqual([1, 2, 3, 4]);
});

test('after a reset nothing read before it is shown', async () => {
  const { record, feeds, page, shown } = slowRecord();
  record.push(said(1));
  const opened = feeds.read('s');
  await page();
  await opened;
  const late = feeds.read('s');
  const reset: StreamEvent = { type: 'stream.reset', at: 1, data: { after: 1 } };
  feeds.apply([said(2), reset]);
  expect(shown()).toBeUndefined();
  await page();
  await late;
  expect(shown()).toBeUndefined();
});
