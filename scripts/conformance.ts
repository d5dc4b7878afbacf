// `npm run conformance`: every scenario, the tests that show it, and whether they passed.
// Options: --json; --results FILE reads an earlier vitest JSON report instead of running the tests.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Report, scenarioStatuses } from '../test/conformance/statuses.ts';
import { build } from './build.mjs';
import { spawnInMemory } from './in-memory.mjs';
import { readOptions } from './options.ts';
import { root } from './root.mjs';

const { values: options } = readOptions({ options: { json: { type: 'boolean' }, results: { type: 'string' } } });
const scenarios = read('test/conformance/scenarios.json');
const planned: string[] = read('test/conformance/planned.json');
const { statuses, problems } = scenarioStatuses(scenarios, planned, report());

if (options.json) {
  console.log(JSON.stringify({ scenarios: statuses.map(({ id, status, tests }) => ({ id, status, tests })) }));
} else {
  for (const { id, title, status, tests } of statuses) {
    const shown = status === 'missing' && planned.includes(id) ? 'planned' : status;
    console.log(`${id}  ${shown.padEnd(7)}  ${title}`);
    for (const test of tests) console.log(`              ${test}`);
  }
  const count = (wanted: string) => statuses.filter(({ status }) => status === wanted).length;
  console.log(
    `\n${count('passed')} passed, ${count('failed')} failed, ${count('missing')} missing (${planned.length} planned)`,
  );
  for (const problem of problems) console.log(`✗ ${problem}`);
}
// Not `exit`, which cuts off a report that a pipe has not taken yet.
process.exitCode = problems.length === 0 ? 0 : 1;

function report(): Report {
  if (options.results !== undefined) return JSON.parse(readFileSync(options.results, 'utf8'));
  build();
  const folder = join(root, '.cache');
  const file = join(folder, 'conformance.json');
  mkdirSync(folder, { recursive: true });
  rmSync(file, { force: true });
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  // Minutes pass: how far it is goes to stderr, beside the report.
  spawnInMemory(process.execPath, [vitest, ...args], { cwd: root, stdio: ['ignore', 2, 2] });
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  console.error('vitest gave no report: see above why.');
  process.exit(1);
}

function read(path: string) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}
