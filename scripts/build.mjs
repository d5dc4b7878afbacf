// Builds dist/ when a source is newer than it.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';

export function build() {
  const built = modified(join(root, 'dist', 'index.js'));
  const sources = ['package.json', 'tsdown.config.ts', 'tsconfig.json'].map((file) => modified(join(root, file)));
  if (built > Math.max(...sources, newest(join(root, 'src')))) return;
  console.error('Building dist/ …');
  const tsdown = join(root, 'node_modules', '.bin', 'tsdown');
  const { status, stderr } = spawnSync(tsdown, ['--log-level', 'error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (status === 0) return;
  console.error(stderr);
  process.exit(status ?? 1);
}

function newest(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return Math.max(0, ...entries.map((entry) => modified(join(entry.parentPath ?? entry.path, entry.name))));
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
