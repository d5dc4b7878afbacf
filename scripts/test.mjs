// `npm test [-- filters]`: builds, runs every test once with its files in memory, and as root what the sandbox promises
// once more as an ordinary user. `npm run test:all` goes on with the tests that depend on Node on the oldest one the
// package declares, the attack catalogue as its command runs it, and the scenarios of the specifications.
//
// The last line is "N passed, N failed". A skipped test counts as a failure: a promise nobody checked is not kept.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { build } from './build.mjs';
import { declaredNode, fetchNode } from './fetch-node.mjs';
import { spawnInMemory } from './in-memory.mjs';
import { root } from './root.mjs';
import { TESTS_OF_USER } from './tests-of-user.mjs';

/** The built-in SQLite, the loop of a call, the command line's start, and the package as somebody installs it. */
const TESTS_OF_NODE = ['src/kernel', 'src/runtime', 'src/storage', 'src/cli', 'test/store', 'test/e2e/package.test.ts'];
const results = join(root, '.cache', 'test-results');
const SHOWN = { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] };

const filters = process.argv.slice(2).filter((word) => word !== '--all');
const isWhole = filters.length === 0;
const goesOn = process.argv.includes('--all');

build();
rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });

/** Tests that failed, by the run they failed in: told at the end, where nobody has to look for them. */
const failures = [];
const runs = [suite()];
if (isWhole && process.getuid?.() === 0) runs.push(asOrdinaryUser());
if (goesOn) runs.push(await onOldestNode(), await attacks(), scenarios());

const passed = runs.reduce((sum, run) => sum + run.passed, 0);
const failed = runs.reduce((sum, run) => sum + run.failed, 0);
for (const line of failures) console.log(line);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

function suite() {
  console.log(`\nTests on Node ${process.version}`);
  const report = join(results, 'suite.json');
  const { status } = spawnInMemory(process.execPath, vitest(report, filters), SHOWN);
  return counted('suite', report, status, filters);
}

/** The tests that depend on who runs them, once more as somebody who may less. */
function asOrdinaryUser() {
  console.log('\nThe same as an ordinary user');
  const report = join(results, 'ordinary-user.json');
  const env = { ...process.env, TOOLWRIGHT_TEST_REPORT: report };
  const script = join(root, 'scripts', 'test-as-user.mjs');
  const { status } = spawnInMemory(process.execPath, [script], { ...SHOWN, env });
  return counted('ordinary user', report, status, TESTS_OF_USER);
}

async function onOldestNode() {
  const version = `${declaredNode()}.0`;
  const node = await fetchNode(version);
  console.log(`\nTests on Node v${version}`);
  const report = join(results, 'oldest-node.json');
  const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) };
  const { status } = spawnSync(node, vitest(report, TESTS_OF_NODE), { ...SHOWN, env });
  return counted('oldest Node', report, status, TESTS_OF_NODE);
}

function vitest(report, filters) {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  return [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...reporters, ...filters];
}

/** Also the case of a hundred rounds, which the tests try with twenty. */
async function attacks() {
  console.log('\nThe attack catalogue');
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/attacks.ts'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    process.stdout.write(text);
    output += text;
  });
  const status = await new Promise((done) => child.on('close', done));
  for (const [line] of output.matchAll(/^FAIL .*/gm)) failures.push(`  ${line} (attacks)`);
  const [, good = 0, bad = 1] = /^(\d+) passed, (\d+) failed, /m.exec(output) ?? [];
  return { passed: Number(good), failed: Math.max(Number(bad), status === 0 ? 0 : 1) };
}

/** The scenarios that the tests of this run show. Those tests are counted already: only a problem counts here. */
function scenarios() {
  const args = ['--import', 'tsx', 'scripts/conformance.ts', '--results', join(results, 'suite.json')];
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  const [summary = 'no report', ...problems] = (stdout ?? '').split('\n\n').at(-1).trim().split('\n');
  console.log(`\nScenarios: ${summary}`);
  for (const problem of problems) failures.push(`  ${problem} (scenarios)`);
  return { passed: 0, failed: Math.max(problems.length, status === 0 ? 0 : 1) };
}

/** Of each file that was to run, also of one whose process ended before it could say how its tests went. */
function counted(name, report, status, filters) {
  if (!existsSync(report)) {
    failures.push(`  lost (${name}): there is no report`);
    return { passed: 0, failed: 1 };
  }
  const { testResults, numPassedTests, numTotalTests } = JSON.parse(readFileSync(report, 'utf8'));
  const broken = testResults.filter((each) => each.status === 'failed' && each.assertionResults.length === 0);
  const told = new Set(testResults.map((each) => fileOf(each.name)));
  const silent = testFiles(filters).filter((path) => !told.has(path));
  for (const { name: path } of broken) failures.push(`  broken (${name}): ${fileOf(path)}`);
  for (const path of silent) failures.push(`  lost (${name}): ${path}`);
  for (const { name: path, assertionResults } of testResults) {
    for (const { status: outcome, fullName } of assertionResults) {
      if (outcome !== 'passed') failures.push(`  ${outcome} (${name}): ${fileOf(path)} > ${fullName}`);
    }
  }
  const failed = numTotalTests - numPassedTests + broken.length + silent.length;
  return { passed: numPassedTests, failed: Math.max(failed, status === 0 ? 0 : 1) };
}

/** The files that the runner finds by the same words: every test file whose path holds one of them. */
function testFiles(filters) {
  const names = ['src', 'web', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name}`),
  );
  const words = filters.filter((word) => !word.startsWith('-'));
  const isMeant = (path) => words.length === 0 || words.some((word) => path.includes(word));
  return names.filter((path) => /\.test\.tsx?$/.test(path) && isMeant(path));
}

/** Also of a copy of the repository elsewhere. */
function fileOf(path) {
  return /\/((?:src|test|web)\/.*)$/.exec(path)?.[1] ?? path;
}
