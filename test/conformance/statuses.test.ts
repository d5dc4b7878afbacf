import { expect, test } from 'vitest';
import { scenarioStatuses } from './statuses.ts';

const scenarios = [
  { id: 'A01', title: 'One' },
  { id: 'A02', title: 'Two' },
  { id: 'A03', title: 'Three' },
];
const report = (...tests: [string, string][]) => ({
  testResults: [{ assertionResults: tests.map(([fullName, status]) => ({ fullName, status })) }],
});
const problemsOf = (planned: string[], ...tests: [string, string][]) =>
  scenarioStatuses(scenarios, planned, report(...tests)).problems;

test('a scenario passes when every test that names it passes', () => {
  const { statuses, problems } = scenarioStatuses(
    scenarios,
    ['A03'],
    report(['[A01] works', 'passed'], ['[A02] works', 'passed'], ['[A01] [A02] both', 'failed']),
  );
  expect(statuses.map(({ id, status, tests }) => [id, status, tests.length])).toEqual([
    ['A01', 'failed', 2],
    ['A02', 'failed', 2],
    ['A03', 'missing', 0],
  ]);
  expect(problems).toEqual(['A01 failed', 'A02 failed']);
});

test('a missing scenario, a stale plan, a skipped test and an unknown id are problems', () => {
  const done: [string, string][] = [
    ['[A01] x', 'passed'],
    ['[A02] x', 'passed'],
  ];
  expect(problemsOf(['A03'], ...done)).toEqual([]);
  expect(problemsOf([], ...done)).toEqual(['A03 is shown by no test']);
  expect(problemsOf(['A02', 'A03'], ...done)).toEqual(['A02 has a test: take it out of planned.json']);
  expect(problemsOf([], ...done, ['[A03] x', 'skipped'])).toEqual(['A03 failed']);
  expect(problemsOf(['A03'], ...done, ['[A99] x', 'passed'])).toEqual(['"[A99] x" names A99, which is no scenario']);
  expect(problemsOf(['A03', 'Z01'], ...done)).toEqual(['planned.json names Z01, which is no scenario']);
});
