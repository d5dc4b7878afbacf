// `npm run lock`: brings package-lock.json up to date, with the optional packages of other platforms that npm left out.
//
// npm leaves out an optional package that its registry did not serve when the lock was made, and `npm ci` then
// refuses the lock on every machine. Their versions are exact and their platform stands in their names, so the
// entries can be completed here. Run after every change of dependencies.
import { readFileSync, writeFileSync } from 'node:fs';
import { runNpm } from './npm.mjs';
import { root } from './root.mjs';

const OS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const CPU = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];
const OTHER_SPELLINGS = { ppc64le: 'ppc64', 'arm-eabi': 'arm', fsevents: 'darwin' };

const args = ['install', '--ignore-scripts', '--package-lock-only', '--no-audit', '--no-fund'];
const { status } = runNpm(process.execPath, args, { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(1);
const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8'));
const added = [];

for (const [place, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const exact = version.replace(/^[\^~]/, '');
    const seen = found(place, name);
    if (seen !== undefined && (seen.version === exact || version !== exact)) continue;
    lock.packages[seen === undefined ? `node_modules/${name}` : `${place}/node_modules/${name}`] = {
      version: exact,
      ...platform(name),
      ...(entry.dev ? { dev: true } : {}),
      optional: true,
      ...(entry.peer ? { peer: true } : {}),
    };
    added.push(name);
  }
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length === 0 ? 'The lock was complete.' : `Added ${added.length} packages of other platforms.`);

/** Node's own way: beside the package that asks, then in each folder above. */
function found(place, name) {
  for (let at = place; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules') - 1))) {
    const entry = lock.packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`];
    if (entry !== undefined || at === '') return entry;
  }
}

function platform(name) {
  const plain = Object.entries(OTHER_SPELLINGS).reduce((text, [from, to]) => text.replace(from, to), name);
  const words = plain.split(/[-_/@.]/);
  const os = OS.filter((word) => words.includes(word));
  const cpu = CPU.filter(
    (word) => words.includes(word) || words.includes(`${word}eabi`) || words.includes(`${word}hf`),
  );
  const libc = words.some((word) => word.startsWith('musl')) ? ['musl'] : words.includes('gnu') ? ['glibc'] : [];
  if (os.length + cpu.length === 0) throw new Error(`Cannot tell the platform of ${name}: add its spelling here.`);
  return { ...(cpu.length && { cpu }), ...(libc.length && { libc }), ...(os.length && { os }) };
}
