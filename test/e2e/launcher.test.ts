import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

/** The launcher of a clone, in a copy of the scripts that runs nothing but a probe. */
const root = join(import.meta.dirname, '..', '..');
const FETCHED = /CURRENT_NODE = '(.*)'/.exec(readFileSync(join(root, 'scripts/fetch-node.mjs'), 'utf8'))?.[1] ?? '';
const base = mkdtempSync(join(tmpdir(), 'toolwright-launcher-'));
const home = join(base, 'home');
mkdirSync(home);
afterAll(() => rmSync(base, { recursive: true, force: true }));

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(base, 'clone-'));
  cpSync(join(root, 'scripts'), join(clone, 'scripts'), { recursive: true });
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const needed = { name: 'needed', version: '1.0.0', engines };
  const probed = { name: 'probed', version: '1.0.0', engines, dependencies: { needed: 'file:needed' } };
  const packages = { '': probed, needed, 'node_modules/needed': { resolved: 'needed', link: true } };
  mkdirSync(join(clone, 'needed'));
  write('needed/package.json', JSON.stringify(needed));
  write('package.json', JSON.stringify(probed));
  write('package-lock.json', JSON.stringify({ ...probed, lockfileVersion: 3, packages }));
  const first = 'require("node:child_process").execFileSync("node", ["-p", "process.execPath"], { encoding: "utf8" })';
  write('probe.cjs', `console.log(JSON.stringify([process.execPath, ${first}.trim(), process.argv.slice(2)]));`);
});

function write(name: string, content: string): void {
  writeFileSync(join(clone, name), content);
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the launcher as if this Node had another version. */
function launch(version: string, words: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  write('as.cjs', `Object.defineProperty(process, 'version', { value: '${version}' });`);
  const args = ['--require', join(clone, 'as.cjs'), join(clone, 'scripts/run.mjs'), ...words];
  const own = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', npm_config_fetch_retries: '0', ...env };
  return new Promise((done) =>
    execFile(process.execPath, args, { cwd: clone, env: own }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code), out, err }),
    ),
  );
}

describe('with a Node that the package declares', () => {
  test('the launcher uses it, also for what the script starts, and hands on the arguments', async () => {
    const { code, out, err } = await launch('v22.19.0', ['--no-packages', 'probe.cjs', '--json', 'a b']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual([process.execPath, process.execPath, ['--json', 'a b']]);
  });

  test('packages are installed once, also where npm is strict about what they declare', async () => {
    const strict = { npm_config_engine_strict: 'true' };
    const { code, err } = await launch('v24.0.0', ['probe.cjs'], strict);
    expect({ code, err }).toEqual({ code: 0, err: 'Installing packages (npm ci) …\n' });
    expect((await launch('v24.0.0', ['probe.cjs'], strict)).err).toBe('');
  }, 60_000);

  test('the exit code is that of the script', async () => {
    write('probe.cjs', 'process.exit(7)');
    expect((await launch('v24.0.0', ['--no-packages', 'probe.cjs'])).code).toBe(7);
    write('probe.cjs', 'process.kill(process.pid, "SIGTERM")');
    expect((await launch('v24.0.0', ['--no-packages', 'probe.cjs'])).code).toBe(143);
  });
});

describe('with an older Node', () => {
  let registry: Registry;
  beforeAll(async () => {
    registry = await startRegistry();
  });
  afterAll(() => registry.server.close());

  test('a current one is fetched from the registry once, and said in one line', async () => {
    const env = { npm_config_registry: registry.url, npm_config_engine_strict: 'true' };
    const { code, out, err } = await launch('v20.20.2', ['--no-packages', 'probe.cjs'], env);
    const said = `Fetching Node ${FETCHED} from the package registry into .cache (this is v20.20.2) …\n`;
    expect({ code, err }).toEqual({ code: 0, err: said });
    const fetched = readFileSync(join(clone, '.cache', `node-${FETCHED}`, 'bin/node'), 'utf8');
    expect(fetched).toContain('the fetched Node');
    expect(JSON.parse(out)).toEqual([process.execPath, 'the fetched Node', []]);
    expect((await launch('v20.20.2', ['--no-packages', 'probe.cjs'], env)).err).toBe('');
  }, 60_000);

  test('two commands at once fetch it once', async () => {
    const env = { npm_config_registry: registry.url, npm_config_cache: mkdtempSync(join(base, 'cache-')) };
    registry.served = 0;
    const ran = await Promise.all([1, 2].map(() => launch('v20.20.2', ['--no-packages', 'probe.cjs'], env)));
    expect({ codes: ran.map(({ code }) => code), served: registry.served }).toEqual({ codes: [0, 0], served: 1 });
  }, 60_000);

  test('the install of a process that was killed holds up nobody', async () => {
    mkdirSync(join(clone, '.cache'));
    // No process has this id: Linux counts to 2^22.
    write('.cache/install.lock', String(2 ** 22 + 1));
    const env = { npm_config_registry: registry.url };
    expect((await launch('v20.20.2', ['--no-packages', 'probe.cjs'], env)).code).toBe(0);
  }, 60_000);
});

describe('when it cannot go on, one sentence says what to do', () => {
  const unreachable = { npm_config_registry: 'http://127.0.0.1:9/' };

  test.each([
    ['C.UTF-8', `Node ${FETCHED} cannot be fetched (ECONNREFUSED): check that the package registry can be reached,`],
    ['zh_CN.UTF-8', `无法下载 Node ${FETCHED}（ECONNREFUSED）：请检查能否访问软件包仓库，`],
  ])(
    'the registry cannot be reached (%s)',
    async (LANG, sentence) => {
      const { code, out, err } = await launch('v20.20.2', ['probe.cjs'], { ...unreachable, LANG });
      expect({ code, out, lines: err.trim().split('\n').length }).toEqual({ code: 1, out: '', lines: 2 });
      expect(err).toContain(sentence);
      expect(err).toContain('22.19');
      expect(existsSync(join(clone, '.cache/install.lock'))).toBe(false);
    },
    60_000,
  );

  test.each([
    ['C.UTF-8', 'A clone of Toolwright starts with Node 20 or newer, and this is v18.20.8: install a newer one'],
    ['zh_CN.UTF-8', 'Toolwright 的克隆需要 Node 20 或更新版本，当前是 v18.20.8：请'],
  ])('Node is older than 20 (%s)', async (LANG, sentence) => {
    const { code, out, err } = await launch('v18.20.8', ['probe.cjs'], { LANG });
    expect({ code, out, lines: err.trim().split('\n').length }).toEqual({ code: 1, out: '', lines: 1 });
    expect(err).toContain(sentence);
  });

  test('there is no npm', async () => {
    const { code, err } = await launch('v24.0.0', ['probe.cjs'], { PATH: home });
    expect({ code, last: err.trim().split('\n').at(-1) }).toEqual({
      code: 1,
      last: 'npm is not on the search path: install it.',
    });
  });
});

interface Registry {
  readonly server: Server;
  readonly url: string;
  served: number;
}

/** A registry with one package: a Node for this platform that says its version and hands all else to the one that runs. */
async function startRegistry(): Promise<Registry> {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = mkdtempSync(join(base, 'package-'));
  mkdirSync(join(folder, 'bin'));
  const lines = [
    `--version) echo v${FETCHED} ;;`,
    '-p) echo the fetched Node ;;',
    `*) exec ${process.execPath} "$@" ;;`,
  ];
  writeFileSync(join(folder, 'bin/node'), `#!/bin/sh\ncase "$1" in ${lines.join(' ')} esac\n`);
  chmodSync(join(folder, 'bin/node'), 0o755);
  const about = { name, version: FETCHED, bin: { node: 'bin/node' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(about));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', base], { cwd: folder });
  const tarball = readFileSync(join(base, `${name}-${FETCHED}.tgz`));
  const server = createServer(({ url }, response) => {
    if (url?.endsWith('.tgz')) {
      registry.served += 1;
      response.end(tarball);
    } else {
      const dist = { tarball: `${registry.url}node.tgz` };
      const known = { name, 'dist-tags': { latest: FETCHED }, versions: { [FETCHED]: { ...about, dist } } };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(known));
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const registry = { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, served: 0 };
  return registry;
}
