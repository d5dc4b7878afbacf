import { expect, test } from 'vitest';
import type { RecordedEvent } from '../../src/protocol/events.ts';
import { changerOf, noteCall } from './change-authors.ts';

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

test('a change is of the call that made it, of the editor, of the command that runs, or of another program', () => {
  noteCall(started('c1', 'edit_file', { kind: 'fs.write', path: 'a' }), 0);
  expect(changerOf('c1', 0)).toEqual({ tool: 'edit_file' });
  expect(changerOf('save-1', 0)).toBe('person');
  expect(changerOf(null, 0)).toBeNull();
  noteCall(started('c2', 'bash', { kind: 'process.run', command: 'ls', writes: 'nothing' }), 0);
  expect(changerOf(null, 0)).toBeNull();
  noteCall(started('c3', 'bash', { kind: 'process.run', command: 'make', writes: 'workspace' }), 0);
  expect(changerOf(null, 10)).toEqual({ tool: 'bash' });
  noteCall(finished('c3', 'bash'), 20);
  expect(changerOf(null, 100)).toEqual({ tool: 'bash' });
  expect(changerOf(null, 60_000)).toBeNull();
});
