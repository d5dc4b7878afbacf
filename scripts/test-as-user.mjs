// Runs the tests that depend on who runs them once more as an ordinary user.
//
// Root is refused less than others: permissions of files, limits of processes, control groups. So what the sandbox
// promises is tried as both. Does nothing when whoever calls it is an ordinary user already.
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { prepareUser } from './as-user.mjs';
import { TESTS_OF_USER } from './tests-of-user.mjs';

if (process.getuid?.() === 0) process.exitCode = runAsNobody(process.argv.slice(2));
else console.log('Already an ordinary user: the tests have run as one.');

/** Returns vitest's exit code; its JSON report is copied to where TOOLWRIGHT_TEST_REPORT says. */
function runAsNobody(filters) {
  const report = process.env['TOOLWRIGHT_TEST_REPORT'];
  const user = prepareUser();
  try {
    const results = join(user.home, 'results.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
    const tests = filters.length > 0 ? filters : TESTS_OF_USER;
    const status = user.run(['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...tests]);
    if (report !== undefined && existsSync(results)) cpSync(results, report);
    return status;
  } finally {
    user.remove();
  }
}
