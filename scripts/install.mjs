// Installs the npm packages that are missing, once per state of the lock. Plain Node: it runs before anything is there.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { said } from './localized.mjs';

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
    console.error(said('Installing packages (npm ci) …', '正在安装软件包（npm ci）……'));
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
  const next = 'Check that the package registry can be reached, then run the same command again.';
  console.error(said(`npm ci failed. ${next}`, 'npm ci 失败。请检查能否访问软件包仓库，然后重新运行同一条命令。'));
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
        if (!told)
          console.error(said('Waiting for another install in this checkout …', '正在等待此目录中的另一次安装……'));
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
  const { version } = process;
  console.error(
    said(
      `Toolwright needs Node 20.19 or newer; this is ${version}.`,
      `Toolwright 需要 Node 20.19 或更新版本；当前是 ${version}。`,
    ),
  );
  process.exit(1);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await install();
