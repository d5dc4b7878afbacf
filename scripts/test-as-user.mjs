// Runs the tests that depend on who runs them once more as an ordinary user.
//
// Root is refused less than others: permissions of files, limits of processes, control groups. So what the sandbox
// promises is tried as both. Does nothing when whoever calls it is an ordinary user already.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TESTS_OF_USER } from './tests-of-user.mjs';

const NOBODY = 65534;
const repository = fileURLToPath(new URL('..', import.meta.url));

if (process.getuid?.() === 0) process.exitCode = runAsNobody(process.argv.slice(2));
else console.log('Already an ordinary user: the tests have run as one.');

/** Returns vitest's exit code; its JSON report is copied to where TOOLWRIGHT_TEST_REPORT says. */
function runAsNobody(filters) {
  const report = process.env['TOOLWRIGHT_TEST_REPORT'];
  const home = mkdtempSync(join(tmpdir(), 'toolwright-user-'));
  try {
    const node = nodeFor(home);
    const folder = copyTo(join(home, 'repository'), node);
    spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, '--no-dereference', home], { stdio: 'inherit' });
    const results = join(home, 'results.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
    const tests = filters.length > 0 ? filters : TESTS_OF_USER;
    const args = ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...tests];
    const { status } = asNobody(node, args, { cwd: folder, stdio: 'inherit', env: environment(home, node) });
    if (report !== undefined && existsSync(results)) cpSync(results, report);
    return status ?? 1;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The user's own copy, since the test runner writes beside the packages; these are only linked where that works. */
function copyTo(folder, node) {
  const left = ['.git', '.cache', 'node_modules'].map((name) => join(repository, name));
  cpSync(repository, folder, { recursive: true, verbatimSymlinks: true, filter: (path) => !left.includes(path) });
  const packages = join(repository, 'node_modules');
  mkdirSync(join(folder, 'node_modules'));
  if (canRead(packages, node)) {
    for (const name of readdirSync(packages)) {
      if (!name.startsWith('.')) symlinkSync(join(packages, name), join(folder, 'node_modules', name));
    }
  } else {
    cpSync(packages, join(folder, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  }
  return folder;
}

/** The Node that runs this, or a copy of it where the user cannot reach it, as below root's home. */
function nodeFor(home) {
  const node = process.execPath;
  if (asNobody(node, ['--version'], { cwd: '/', stdio: 'ignore', env: environment('/', node) }).status === 0)
    return node;
  const copy = join(home, 'node', 'bin', 'node');
  mkdirSync(dirname(copy), { recursive: true });
  copyFileSync(node, copy);
  spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, home], { stdio: 'inherit' });
  return copy;
}

function canRead(folder, node) {
  const probe = `require('fs').readdirSync(${JSON.stringify(folder)})`;
  return asNobody(node, ['-e', probe], { cwd: '/', stdio: 'ignore', env: environment('/', node) }).status === 0;
}

function asNobody(node, args, options) {
  return spawnSync(node, args, { ...options, uid: NOBODY, gid: NOBODY });
}

function environment(home, node) {
  return { PATH: `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`, HOME: home, TMPDIR: home, LANG: 'C.UTF-8' };
}
