// Builds dist/ when a source is newer than it: the package with tsdown, the page of the web app with Vite. As a program it
// builds both, with `page` the page alone.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { localized } from './localized.mjs';
import { root } from './root.mjs';

export function build() {
  const own = Math.max(shared(), newest(join(root, 'src')), modified(join(root, 'tsdown.config.ts')));
  const built = Math.min(...['index.js', 'cli.js'].map((file) => modified(join(root, 'dist', file))));
  // tsdown empties dist/, so the page is built after it.
  if (built < own) run('dist/', 'tsdown', ['--log-level', 'error']);
  buildPage();
}

function buildPage() {
  const page = Math.max(shared(), newest(join(root, 'web')), newest(join(root, 'src', 'protocol')));
  if (modified(join(root, 'dist', 'web', 'index.html')) < page) {
    run('dist/web/', 'vite', ['build', '--config', join('web', 'vite.config.ts'), '--logLevel', 'error']);
  }
}

function run(what, program, args) {
  console.error(localized(`Building ${what} …`, `正在构建 ${what} ……`));
  const { status, stderr } = spawnSync(join(root, 'node_modules', '.bin', program), args, {
    cwd: root,
    // A test that builds has another one, and would leave the page that React's developers want.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (status === 0) return;
  console.error(stderr);
  process.exit(status ?? 1);
}

function shared() {
  return Math.max(...['package.json', 'package-lock.json', 'tsconfig.json'].map((file) => modified(join(root, file))));
}

function newest(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return Math.max(0, ...entries.map((entry) => modified(join(entry.parentPath, entry.name))));
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.argv[2] === 'page' ? buildPage() : build();
