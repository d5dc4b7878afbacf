// Installs the npm packages that are missing, once per state of the lock. Plain Node: it runs before anything is there.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { localized } from './localized.mjs';
import { runNpm } from './npm.mjs';
import { alone } from './one-at-a-time.mjs';
import { root } from './root.mjs';

const stamp = join(root, 'node_modules', '.installed-lock');

/** Ends the process, and says what to do, when it does not work. */
export async function install(node) {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (installed() === wanted) return;
  await alone(() => {
    if (installed() === wanted) return;
    console.error(localized('Installing packages (npm ci) …', '正在安装软件包（npm ci）……'));
    // Development packages too, also under NODE_ENV=production: they build and test this repository.
    const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status } = runNpm(node, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) fail();
    writeFileSync(stamp, wanted);
  });
}

function installed() {
  return existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined;
}

function fail() {
  const english = 'npm ci failed: check that the package registry can be reached, then run the same command again.';
  console.error(localized(english, 'npm ci 失败：请检查能否访问软件包仓库，然后重新运行同一条命令。'));
  process.exit(1);
}
