// Runs a script of this repository: `node scripts/run.mjs [--system] [--peer] [--no-packages] [options of Node] FILE …`.
//
// A clone starts with any Node from 20 on. This launcher finds or fetches a Node that the package declares, installs the
// packages that are missing (not with --no-packages), with --system also the programs that the tests need and with --peer
// those of the peer in the benchmarks, and hands over. Plain JavaScript for Node 20: it runs before anything is there.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { CURRENT_NODE, declaredNode, fetchNode } from './fetch-node.mjs';
import { install } from './install.mjs';
import { installSystem } from './install-system.mjs';
import { localized } from './localized.mjs';
import { root } from './root.mjs';

const OWN = ['--system', '--peer', '--no-packages'];
const OLDEST_TO_LAUNCH = '20.0';

const words = process.argv.slice(2);
const at = words.findIndex((word) => !word.startsWith('-'));
const before = words.slice(0, at);
const file = join(root, words[at]);

refuseOldNode();
const node = isAtLeast(declaredNode()) ? process.execPath : await fetchNode(CURRENT_NODE);
process.env.PATH = [dirname(node), process.env.PATH].join(delimiter);
if (!before.includes('--no-packages')) await install(node);
if (before.includes('--system') || before.includes('--peer')) installSystem({ peer: before.includes('--peer') });
handOver();

function refuseOldNode() {
  if (isAtLeast(OLDEST_TO_LAUNCH)) return;
  const { version } = process;
  const english = `A clone of Toolwright starts with Node 20 or newer, and this is ${version}: install a newer one from https://nodejs.org.`;
  console.error(
    localized(
      english,
      `Toolwright 的克隆需要 Node 20 或更新版本，当前是 ${version}：请从 https://nodejs.org 安装新版本。`,
    ),
  );
  process.exit(1);
}

/** Whether the Node that runs this is new enough. */
function isAtLeast(wanted) {
  const [wantedMajor, wantedMinor = 0] = wanted.split('.').map(Number);
  const [major, minor] = process.version.slice(1).split('.').map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

function handOver() {
  const typescript = file.endsWith('.ts') ? ['--import', 'tsx'] : [];
  const options = [...before.filter((word) => !OWN.includes(word)), ...typescript];
  const child = spawn(node, [...options, file, ...words.slice(at + 1)], { stdio: 'inherit' });
  // A terminal sends Ctrl-C to every process itself; passed on, it would be the second one, which means impatience.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
