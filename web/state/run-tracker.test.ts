import { expect, test } from 'vitest';
import type { SessionView } from '../../src/protocol/sessions.ts';
import { createRunTracker } from './run-tracker.ts';

const read = (lastSeq: number, running: boolean): SessionView => ({
  ...{ id: 's', title: null, workspace: 'w', agent: null, createdAt: 1, updatedAt: 1 },
  ...{ lastSeq, running, collects: false },
});

test.each([
  ['before its end', read(4, true), false],
  ['at its end, while the server still counts it', read(5, true), false],
  ['after the next one began', read(6, true), true],
])('after the end of a run, a list read %s shows the true state', (_, view, running) => {
  const runs = createRunTracker();
  runs.note('s', true, 2);
  runs.note('s', false, 5);
  expect(runs.correct(view).running).toBe(running);
});

test.each([
  ['before it', read(4, false), true],
  ['after it, by a server that does not go on with it', read(5, false), false],
])('after the start of a run, a list read %s shows the true state', (_, view, running) => {
  const runs = createRunTracker();
  runs.note('s', true, 5);
  expect(runs.correct(view).running).toBe(running);
  runs.forget();
  expect(runs.correct(view)).toBe(view);
});
