// `npm test`: builds, runs every test on this Node with its files in memory, then the unit and contract suites on the
// newer one with their files on the disk, and what the sandbox promises once more as an ordinary user.
// Its last line is «N passed, N failed». A skipped test counts as a failure: a promise nobody checked is not kept.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { spawnInMemory } from './in-memory.mjs';
import { root } from './install.mjs';
import { newerNode } from './newer-node.mjs';
import { TESTS_OF_USER } from './tests-of-user.mjs';

const MOST_TRIED_AGAIN = 5;
const results = join(root, '.cache', 'test-results');

build();
rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });

/** Tests that failed, by the run they failed in: told at the end, where nobody has to look for them. */
const failures = [];
const runs = [vitest(process.execPath, 'this-node', process.argv.slice(2), spawnInMemory)];
if (process.argv.length === 2 && !process.version.startsWith('v24.')) {
  const newer = newerNode();
  runs.push(newer === undefined ? { passed: 0, failed: 1 } : vitest(newer, 'newer-node', ['src/'], spawnSync));
}

if (process.argv.length === 2 && process.getuid?.() === 0) runs.push(asOrdinaryUser());

const passed = runs.reduce((sum, run) => sum + run.passed, 0);
const failed = runs.reduce((sum, run) => sum + run.failed, 0);
for (const line of failures) console.log(line);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

function vitest(node, name, filters, spawn) {
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  console.log(`\nTests on Node ${version}`);
  return tried(name, filters, filters, (chosen, file) => {
    const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...chosen];
    return spawn(node, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), ...args], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    }).status;
  });
}

/** What depends on who runs it, once more as somebody who may less. */
function asOrdinaryUser() {
  console.log('\nThe same as an ordinary user');
  const script = join(root, 'scripts', 'test-as-user.mjs');
  return tried('ordinary-user', [], TESTS_OF_USER, (chosen, report) => {
    const env = { ...process.env, TOOLWRIGHT_TEST_REPORT: report };
    return spawnInMemory(process.execPath, [script, ...chosen], { stdio: ['ignore', 'inherit', 'inherit'], env })
      .status;
  });
}

/** A busy machine can make a slow test miss its bound: a few that failed get a second chance alone, and that is said. */
function tried(name, filters, meant, run) {
  const first = join(results, `${name}.json`);
  const ran = counted(first, run(filters, first), meant, name);
  if (ran.failed === 0 || ran.files.length === 0 || ran.files.length > MOST_TRIED_AGAIN) return ran;
  console.log(`\nOnce more, alone: ${ran.files.join(', ')}`);
  const again = join(results, `${name}-again.json`);
  const second = counted(again, run([...ran.files, '--no-file-parallelism'], again), ran.files, `${name}, second try`);
  return second.failed > 0 ? ran : { passed: ran.passedElsewhere + second.passed, failed: 0, files: [] };
}

/** Of each file that was to run, also of one whose process ended before it could say how its tests went. */
function counted(file, status, filters, name) {
  if (!existsSync(file)) return { passed: 0, failed: 1, files: [] };
  const { testResults, numPassedTests, numTotalTests } = JSON.parse(readFileSync(file, 'utf8'));
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  const told = new Set(testResults.map((each) => fileOf(each.name)));
  const silent = testFiles(filters).filter((path) => !told.has(path));
  for (const path of silent) failures.push(`  lost (${name}): ${path}`);
  for (const { name: path, assertionResults } of testResults) {
    for (const { status: outcome, fullName } of assertionResults) {
      if (outcome !== 'passed') failures.push(`  ${outcome} (${name}): ${fileOf(path)} > ${fullName}`);
    }
  }
  const failed = numTotalTests - numPassedTests + brokenFiles.length + silent.length;
  const passedIn = (each) => each.assertionResults.filter((one) => one.status === 'passed').length;
  const bad = testResults.filter((each) => each.status !== 'passed' || passedIn(each) < each.assertionResults.length);
  return {
    passed: numPassedTests,
    passedElsewhere: numPassedTests - bad.reduce((sum, each) => sum + passedIn(each), 0),
    failed: Math.max(failed, status === 0 ? 0 : 1),
    files: [...bad.map((each) => fileOf(each.name)), ...silent],
  };
}

/** What the runner finds by the same words: every test file whose path holds one of them. */
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
