// `npm test`: builds, runs every test on this Node, then the unit and contract suites on the newer one, and what the
// sandbox promises once more as an ordinary user.
// Its last line is «N passed, N failed». A skipped test counts as a failure: a promise nobody checked is not kept.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './install.mjs';
import { newerNode } from './newer-node.mjs';
import { runAsNobody } from './test-as-user.mjs';

const results = join(root, '.cache', 'test-results');

build();
rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });

const runs = [vitest(process.execPath, 'this-node', process.argv.slice(2))];
if (process.argv.length === 2 && !process.version.startsWith('v24.')) {
  const newer = newerNode();
  runs.push(newer === undefined ? { passed: 0, failed: 1 } : vitest(newer, 'newer-node', ['src/']));
}

if (process.argv.length === 2 && process.getuid?.() === 0) runs.push(asOrdinaryUser());

const passed = runs.reduce((sum, run) => sum + run.passed, 0);
const failed = runs.reduce((sum, run) => sum + run.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

function vitest(node, name, filters) {
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  console.log(`\nTests on Node ${version}`);
  const file = join(results, `${name}.json`);
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...filters];
  const { status } = spawnSync(node, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), ...args], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return counted(file, status);
}

/** What depends on who runs it, once more as somebody who may less. */
function asOrdinaryUser() {
  console.log('\nThe same as an ordinary user');
  const file = join(results, 'ordinary-user.json');
  return counted(file, runAsNobody([], file));
}

function counted(file, status) {
  if (!existsSync(file)) return { passed: 0, failed: 1 };
  const { testResults, numPassedTests, numTotalTests } = JSON.parse(readFileSync(file, 'utf8'));
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  const failed = numTotalTests - numPassedTests + brokenFiles.length;
  return { passed: numPassedTests, failed: Math.max(failed, status === 0 ? 0 : 1) };
}
