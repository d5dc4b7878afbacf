import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Program → Debian package. */
const NEEDED = { bwrap: 'bubblewrap', git: 'git', strace: 'strace', chromium: 'chromium', tmux: 'tmux' };
const FOR_THE_PEER = { socat: 'socat', rg: 'ripgrep' };
const PLACES = ['/usr/bin', '/usr/local/bin', '/bin', '/usr/sbin'];

/**
 * Installs the programs of the system that the tests need: bubblewrap, git, strace, a browser; with `peer` also those of
 * the peer in the benchmarks. Does nothing when they are there; where it may not install, it says what to do and goes on.
 */
export function installSystem({ peer }) {
  const missing = Object.entries({ ...NEEDED, ...(peer ? FOR_THE_PEER : {}) })
    .filter(([program]) => !isThere(program))
    .map(([, debianPackage]) => debianPackage);
  if (missing.length > 0 && process.platform === 'linux') install(missing);
}

function install(packages) {
  const command = `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  if (process.getuid?.() !== 0 || !isThere('apt-get')) {
    console.error(`Not installed: ${packages.join(', ')}. The sandbox needs them; as root on Debian: ${command}`);
    return;
  }
  console.error(`Installing ${packages.join(', ')} …`);
  if (aptGet(['install', '-y', '--no-install-recommends', ...packages])) return;
  // The lists of packages may be missing or old.
  if (aptGet(['update']) && aptGet(['install', '-y', '--no-install-recommends', ...packages])) return;
  console.error(`That did not work. Install them by hand: ${command}`);
}

function aptGet(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync('apt-get', ['-q', ...args], { stdio: ['ignore', 'ignore', 'inherit'], env }).status === 0;
}

function isThere(program) {
  return PLACES.some((folder) => existsSync(`${folder}/${program}`));
}
