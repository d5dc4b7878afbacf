import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { localized } from './localized.mjs';
import { root } from './root.mjs';

const lock = join(root, '.cache', 'install.lock');
const STALE_MS = 10 * 60 * 1000;

/** Does `work` while no other command in this checkout installs anything; a second one waits for the first. */
export async function alone(work) {
  await acquire();
  // A script that gives up ends the process: the lock goes then too.
  const release = () => rmSync(lock, { recursive: true, force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

async function acquire() {
  mkdirSync(dirname(lock), { recursive: true });
  for (let told = false; ; told = true) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (isAbandoned()) rmSync(lock, { recursive: true, force: true });
      else {
        if (!told)
          console.error(localized('Waiting for another install in this checkout …', '正在等待此目录中的另一次安装……'));
        await new Promise((done) => setTimeout(done, 200));
      }
    }
  }
}

/** Its process was killed, or hangs. */
function isAbandoned() {
  try {
    if (Date.now() - statSync(lock).mtimeMs > STALE_MS) return true;
    const owner = Number(readFileSync(lock, 'utf8'));
    if (owner > 0) process.kill(owner, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
