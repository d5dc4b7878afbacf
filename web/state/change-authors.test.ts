import { expect, test } from 'vitest';
import type { RecordedEvent } from '../../src/protocol/events.ts';
import { authorOf, noteCall } from './change-authors.ts';

type Started = Extract<RecordedEvent, { type: 'call.started' }>;
type Access = Started['data']['access'][number];

const place = { session: 's', seq: 1, pos: 1, at: 1 };
const started = (callId: string, tool: string, access: Access): Started => ({
  ...{ type: 'call.started', ...place, callId },
  data: { tool, args: {}, summary: tool, access: [access] },
});
const finished = (callId: string, tool: string): RecordedEvent & { type: 'call.finished' } => ({
  ...{ type: 'call.finished', ...place, callId },
  data: { tool, state: 'succeeded', durationMs: 1, outcome: { ok: true, text: '' } },
});

test('the author of a change is a call, the editor, the running command or another program', () => {
  noteCall(started('c1', 'edit_file', { kind: 'fs.write', path: 'a' }), 0);
  expect(authorOf('c1', 0)).toEqual({ tool: 'edit_file' });
  expect(authorOf('save-1', 0)).toBe('person');
  expect(authorOf(null, 0)).toBeNull();
  noteCall(started('c2', 'bash', { kind: 'process.run', command: 'ls', writes: 'nothing' }), 0);
  expect(authorOf(null, 0)).toBeNull();
  noteCall(started('c3', 'bash', { kind: 'process.run', command: 'make', writes: 'workspace' }), 0);
  expect(authorOf(null, 10)).toEqual({ tool: 'bash' });
  noteCall(finished('c3', 'bash'), 20);
  expect(authorOf(null, 100)).toEqual({ tool: 'bash' });
  expect(authorOf(null, 60_000)).toBeNull();
});
