import { describe, expect, test } from 'vitest';
import type { RecordedEvent, StreamEvent } from '../../src/protocol/events.ts';
import { applyEvent, type CallItem, EMPTY_FEED, type Feed } from './feed.ts';

const requested = (seq: number, callId: string, at = seq): RecordedEvent => ({
  ...{ type: 'call.requested', session: 's', seq, pos: seq, at, callId },
  data: { tool: 'bash', args: { command: 'ls' }, effect: 'once', agent: null },
});
const started = (seq: number, callId: string): RecordedEvent => ({
  ...{ type: 'call.started', session: 's', seq, pos: seq, at: seq, callId },
  data: { tool: 'bash', args: { command: 'ls' }, summary: 'List', access: [{ kind: 'fs.write', path: 'a' }] },
});
const finished = (seq: number, callId: string, ok: boolean): RecordedEvent => ({
  ...{ type: 'call.finished', session: 's', seq, pos: seq, at: seq, callId },
  data: {
    tool: 'bash',
    state: ok ? 'succeeded' : 'failed',
    durationMs: 5,
    outcome: ok ? { ok, text: 'out' } : { ok, text: '', error: { code: 'EXECUTION_ERROR', message: 'broke' } },
  },
});
const asked = (seq: number, callId: string): RecordedEvent => ({
  ...{ type: 'approval.requested', session: 's', seq, pos: seq, at: seq, callId },
  data: { approvalId: 'a1', tool: 'bash', args: { command: 'rm x' }, reason: 'why', digest: 'd' },
});
const decided = (seq: number, callId: string, approved: boolean): RecordedEvent => ({
  ...{ type: 'approval.decided', session: 's', seq, pos: seq, at: seq, callId },
  data: { approvalId: 'a1', approved, by: 'ann', changed: ['command'] },
});
const printed = (callId: string, output: string): StreamEvent => ({
  ...{ type: 'call.progressed', session: 's', callId, at: 1, data: { tool: 'bash', output } },
});

function play(...events: StreamEvent[]): Feed {
  return events.reduce(applyEvent, EMPTY_FEED);
}

function only(feed: Feed): CallItem {
  expect(feed.items).toHaveLength(1);
  return feed.items[0] as CallItem;
}

describe('a call in the feed', () => {
  test('goes through its phases, one at a time', () => {
    const events = [requested(1, 'c'), asked(2, 'c'), decided(3, 'c', true), started(4, 'c'), finished(5, 'c', true)];
    const phases = events.map((_, index) => only(play(...events.slice(0, index + 1))).phase);
    expect(phases).toEqual(['queued', 'waiting', 'queued', 'running', 'done']);
  });

  test('fails when its command ended with another exit code than 0, although it ran', () => {
    const event = finished(3, 'c', true) as RecordedEvent & { type: 'call.finished' };
    const ended = (exitCode: number) =>
      only(
        play(requested(1, 'c'), started(2, 'c'), {
          ...event,
          data: { ...event.data, outcome: { ok: true, text: 'out', value: { exitCode, notes: ['a hint'] } } },
        }),
      );
    expect(ended(1)).toMatchObject({ phase: 'failed', state: 'succeeded', exitCode: 1, notes: ['a hint'] });
    expect(ended(0)).toMatchObject({ phase: 'done', exitCode: 0 });
  });

  test('shows the arguments that ran, who approved them and which were changed', () => {
    const call = only(play(requested(1, 'c'), asked(2, 'c'), decided(3, 'c', true), started(4, 'c')));
    expect(call).toMatchObject({ args: { command: 'ls' }, decidedBy: 'ann', changed: ['command'], writes: true });
  });

  test('changes nothing in the workspace while its session collects', () => {
    const event = started(2, 'c') as RecordedEvent & { type: 'call.started' };
    const collected: RecordedEvent = { ...event, data: { ...event.data, collected: true } };
    expect(only(play(requested(1, 'c'), collected, finished(3, 'c', true))).writes).toBe(false);
  });

  test('is marked as denied, and shows the error when it failed', () => {
    expect(only(play(requested(1, 'c'), asked(2, 'c'), decided(3, 'c', false))).phase).toBe('denied');
    const failed = only(play(requested(1, 'c'), started(2, 'c'), finished(3, 'c', false)));
    expect(failed).toMatchObject({ phase: 'failed', text: 'broke', errorCode: 'EXECUTION_ERROR' });
  });

  test('shows its live output while it runs, bounded, and drops it afterwards', () => {
    const running = play(requested(1, 'c'), started(2, 'c'), printed('c', 'x'.repeat(20_000)), printed('c', 'end'));
    expect(only(running).live).toHaveLength(16_000);
    expect(only(running).live.endsWith('end')).toBe(true);
    expect(only(applyEvent(running, finished(3, 'c', true))).live).toBe('');
  });

  test('keeps live output that arrives before the call is recorded', () => {
    const feed = play(
      printed('c', 'one '),
      requested(1, 'c'),
      printed('c', 'two '),
      started(2, 'c'),
      printed('c', 'three'),
    );
    expect(only(feed).live).toBe('one two three');
    expect(feed.early.size).toBe(0);
  });
});

test('streamed text goes when its message is recorded, also when the record is ahead of the stream', () => {
  const added: RecordedEvent = {
    ...{ type: 'message.added', session: 's', seq: 1, pos: 1, at: 1, callId: null },
    data: { messageId: 'm1', role: 'assistant', text: 'whole' },
  };
  const heard: StreamEvent = {
    ...{ type: 'message.streamed', session: 's', callId: null, at: 1, data: { kind: 'text', text: 'whole' } },
  };
  const feed = play(added, heard, added);
  expect(feed).toMatchObject({ items: [{ text: 'whole' }], streaming: '' });
});

test('an event applied twice changes nothing the second time', () => {
  const feed = play(requested(1, 'c'), started(2, 'c'));
  expect(applyEvent(feed, requested(1, 'c'))).toBe(feed);
  expect(applyEvent(feed, started(2, 'c'))).toBe(feed);
});

test('ten thousand messages cost little each', () => {
  let feed = EMPTY_FEED;
  for (let seq = 1; seq <= 10_000; seq++) {
    feed = applyEvent(feed, {
      ...{ type: 'message.added', session: 's', seq, pos: seq, at: seq, callId: null },
      data: { messageId: `m${seq}`, role: 'user', text: 'hi' },
    });
  }
  expect(feed.items).toHaveLength(10_000);
});

test('a call that has ended stays ended while what it left is decided about', () => {
  const keeping: RecordedEvent = {
    ...{ type: 'call.requested', session: 's', seq: 4, pos: 4, at: 4, callId: 'k' },
    data: { tool: 'apply_changes', args: { stage: 'x', call: 'c' }, effect: 'once', agent: null },
  };
  const call = only(
    play(requested(1, 'c'), started(2, 'c'), finished(3, 'c', true), keeping, asked(5, 'k'), decided(6, 'k', true)),
  );
  expect([call.phase, call.keeping?.callId]).toEqual(['done', 'k']);
});
