// Installs the npm packages that are missing, once per state of the lock. Plain Node: it runs before anything is there.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'node_modules', '.installed-lock');
const lock = join(root, '.cache', 'install.lock');
const STALE_MS = 10 * 60 * 1000;

export async function install() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (installed() === wanted) return;
  refuseOldNode();
  await acquire();
  try {
    if (installed() === wanted) return;
    console.error('Installing packages (npm ci) …');
    // Development packages too, also under NODE_ENV=production: they build and test this repository.
    const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status } = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
    if (status === 0) {
      writeFileSync(stamp, wanted);
      return;
    }
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
  console.error('npm ci failed. Check that the package registry can be reached, then run the same command again.');
  process.exit(1);
}

function installed() {
  return existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined;
}

/** Two commands at once in one checkout: the second waits for the first. */
async function acquire() {
  mkdirSync(dirname(lock), { recursive: true });
  for (let told = false; ; told = true) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (abandoned()) rmSync(lock, { recursive: true, force: true });
      else {
        if (!told) console.error('Waiting for another install in this checkout …');
        await new Promise((done) => setTimeout(done, 200));
      }
    }
  }
}

function abandoned() {
  try {
    return Date.now() - statSync(lock).mtimeMs > STALE_MS;
  } catch {
    return false;
  }
}

function refuseOldNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Toolwright needs Node 20.19 or newer; this is ${process.version}.`);
  process.exit(1);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await install();
