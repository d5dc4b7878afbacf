// A copy of the repository for an ordinary user, and a way to run programs in it as one.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NOBODY = 65534;
const repository = fileURLToPath(new URL('..', import.meta.url));

/** Root only. `add` may put more into the user's home before it is given away; `remove` takes all of it away again. */
export function prepareUser({ add } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'toolwright-user-'));
  const node = nodeFor(home);
  const folder = copyTo(join(home, 'repository'), node);
  add?.(home);
  spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, '--no-dereference', home], { stdio: 'inherit' });
  return {
    home,
    run(args, env = {}) {
      const options = { cwd: folder, stdio: 'inherit', env: { ...environment(home, node), ...env } };
      return asNobody(node, args, options).status ?? 1;
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
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
