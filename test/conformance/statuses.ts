/** The part of a vitest JSON report that we read. */
export interface Report {
  testResults: { assertionResults: { fullName: string; status: string }[] }[];
}

export interface Scenario {
  id: string;
  title: string;
}

export type Status = 'passed' | 'failed' | 'missing';

/** Which scenarios the tests show. A problem is what the command fails on. */
export function scenarioStatuses(scenarios: readonly Scenario[], planned: readonly string[], report: Report) {
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const shown = new Map<string, { fullName: string; status: string }[]>(scenarios.map(({ id }) => [id, []]));
  const problems: string[] = [];
  for (const test of tests) {
    const ids = [...new Set(test.fullName.match(/(?<=\[)[A-E]\d\d(?=\])/g) ?? [])];
    if (ids.length > 3) problems.push(`"${test.fullName}" claims more than three scenarios`);
    for (const id of ids) {
      if (!shown.has(id)) problems.push(`"${test.fullName}" names ${id}, which is no scenario`);
      shown.get(id)?.push(test);
    }
  }
  const statuses = scenarios.map(({ id, title }) => {
    const showing = shown.get(id) ?? [];
    return { id, title, status: statusOf(showing), tests: showing.map(({ fullName }) => fullName) };
  });
  for (const { id, status } of statuses) {
    if (status === 'failed') problems.push(`${id} failed`);
    if (status === 'missing' && !planned.includes(id)) problems.push(`${id} is shown by no test`);
    if (status !== 'missing' && planned.includes(id)) problems.push(`${id} has a test: take it out of planned.json`);
  }
  for (const id of planned) if (!shown.has(id)) problems.push(`planned.json names ${id}, which is no scenario`);
  return { statuses, problems };
}

/** A test that was skipped shows nothing. */
function statusOf(tests: readonly { status: string }[]): Status {
  if (tests.length === 0) return 'missing';
  return tests.every(({ status }) => status === 'passed') ? 'passed' : 'failed';
}
