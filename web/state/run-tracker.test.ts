import { expect, test } from 'vitest';
import type { SessionView } from '../../src/protocol/sessions.ts';
import { createRuns } from './run-tracker.ts';

const read = (lastSeq: number, running: boolean): SessionView => ({
  ...{ id: 's', title: null, workspace: 'w', agent: null, createdAt: 1, updatedAt: 1 },
  ...{ lastSeq, running },
});

test.each([
  ['before its end', read(4, true), false],
  ['at its end, while the server still counts it', read(5, true), false],
  ['after the next one began', read(6, true), true],
])('of a run that has ended, a list that was read %s shows what is so', (_, view, running) => {
  const runs = createRuns();
  runs.note('s', true, 2);
  runs.note('s', false, 5);
  expect(runs.upToDate(view).running).toBe(running);
});

test.each([
  ['before it', read(4, false), true],
  ['after it, by a server that does not go on with it', read(5, false), false],
])('of a run that has begun, a list that was read %s shows what is so', (_, view, running) => {
  const runs = createRuns();
  runs.note('s', true, 5);
  expect(runs.upToDate(view).running).toBe(running);
  runs.forget();
  expect(runs.upToDate(view)).toBe(view);
});
