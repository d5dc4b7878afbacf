import { expect, test } from 'vitest';
import type { CallItem, MessageItem, Phase } from '../state/feed.ts';
import { groupRows } from './group-rows.ts';

function call(id: string, requestedAt: number, phase: Phase, durationMs = 10): CallItem {
  const rest = { args: {}, summary: '', live: '', text: '', errorCode: null, approvalId: null, decidedBy: null };
  return {
    ...{
      kind: 'call',
      id,
      seq: requestedAt,
      tool: 't',
      phase,
      state: 'succeeded',
      requestedAt,
      startedAt: requestedAt,
    },
    ...{
      durationMs,
      changed: [],
      cut: false,
      hasWhole: false,
      exitCode: null,
      notes: [],
      kept: null,
      secret: null,
      keeping: null,
      writes: false,
      ...rest,
    },
  };
}
const message = (id: string): MessageItem => ({ kind: 'message', id, seq: 0, role: 'assistant', text: id, at: 0 });

test('calls that ran at the same time are grouped, calls that followed one another are not', () => {
  const rows = groupRows({
    streaming: 'so far',
    items: [
      message('m1'),
      call('a', 0, 'done', 100),
      call('b', 5, 'done', 100),
      call('c', 500, 'done'),
      message('m2'),
      call('d', 600, 'running'),
      call('e', 900, 'waiting'),
    ],
  });
  expect(rows.map((row) => (row.kind === 'calls' ? row.calls.map(({ id }) => id).join('+') : row.message.id))).toEqual([
    'm1',
    'a+b',
    'c',
    'm2',
    'd+e',
    'streaming',
  ]);
});
