import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDialer } from '../../src/net/dialer.ts';
import { type CommandOptions, commandWorkspace } from '../../src/testing/command-workspace.ts';
import { HOST_PATH } from './compare-with-plain.ts';

const TIMEOUT = { timeout: 120_000 };
const WHO = 'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c;';

/** Every question is answered with yes; a command that fails fails the test with its output. */
async function open(given: Partial<CommandOptions> = {}) {
  const ws = await commandWorkspace({ path: HOST_PATH, ...given });
  const sh = async (command: string): Promise<string> => {
    const ran = await ws.call('bash', { command, timeout: 90 });
    const { exitCode, changed } = (ran.value ?? {}) as { exitCode?: number; changed?: { state: string } | null };
    expect([command, exitCode, changed?.state ?? 'kept'], ran.text).toEqual([command, 0, 'kept']);
    return ran.text;
  };
  const host = (program: string, ...args: string[]): string =>
    execFileSync(program, args, { cwd: ws.root, encoding: 'utf8' }).trim();
  return Object.assign(ws, { sh, host });
}

test('git: init, commit, rebase, stash, gc and worktree give a sound repository on the host', TIMEOUT, async () => {
  await using ws = await open({ files: { 'a.txt': 'one\n', 'b.txt': 'b\n' } });
  await ws.sh(`${WHO} git init -q -b main && git add -A && git commit -qm first`);
  await ws.sh(`${WHO} git switch -qc topic && echo topic >t.txt && git add t.txt && git commit -qm topic`);
  await ws.sh(`${WHO} git switch -q main && echo two >>a.txt && git commit -qam second`);
  await ws.sh(`${WHO} git switch -q topic && git rebase -q main`);
  expect(ws.host('git', 'log', '--format=%s').split('\n')).toEqual(['topic', 'second', 'first']);

  await ws.sh(`${WHO} echo dirty >>b.txt && git stash -q`);
  expect([readFileSync(ws.file('b.txt'), 'utf8'), ws.host('git', 'stash', 'list')]).toEqual([
    'b\n',
    expect.stringContaining('WIP on topic'),
  ]);
  await ws.sh(`${WHO} git stash pop -q`);
  expect(readFileSync(ws.file('b.txt'), 'utf8')).toBe('b\ndirty\n');

  await ws.sh('git checkout -q -- b.txt && git gc -q --prune=now');
  expect(ws.host('git', 'count-objects', '-v')).toMatch(/^count: 0[\s\S]*packs: 1$/m);
  await ws.sh('git worktree add -q wt main && echo w >wt/w.txt');
  expect(ws.host('git', '-C', 'wt', 'status', '--short')).toBe('?? w.txt');
  await ws.sh(`${WHO} cd wt && git add -A && git commit -qm 'in the worktree'`);
  expect(ws.host('git', 'log', '-1', '--format=%s', 'main')).toBe('in the worktree');
  await ws.sh('git worktree remove --force wt');
  expect([ws.host('git', 'fsck', '--strict'), existsSync(ws.file('wt'))]).toEqual(['', false]);
  expect(ws.host('git', 'status', '--short')).toBe('');
});

test('sqlite: a database that a command changed is whole on the host, in both journal modes', TIMEOUT, async () => {
  await using ws = await open();
  const python = (code: string) =>
    `python3 -c "import sqlite3; c = sqlite3.connect('d.db'); ${code}; c.commit(); c.close()"`;
  await ws.sh(
    python("c.execute('create table t(a)'); c.executemany('insert into t values(?)', [(i,) for i in range(20000)])"),
  );
  await ws.sh(python("c.execute('delete from t where a%2=0')"));
  await ws.sh(python("c.execute('pragma journal_mode=wal'); c.execute('insert into t values(-1)')"));
  const look =
    "import sqlite3; c = sqlite3.connect('d.db'); print(*c.execute('pragma integrity_check').fetchone(), *c.execute('select count(*) from t').fetchone())";
  expect(ws.host('python3', '-c', look)).toBe('ok 10001');
});

const PATH = process.env['PATH'] ?? HOST_PATH;
const succeeds = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args, { env: { ...process.env, PATH }, stdio: 'ignore' }).status === 0;
const PYTHON_TESTERS = ['unittest', 'pytest'].filter((module) => succeeds('python3', '-c', `import ${module}`));

test.each(PYTHON_TESTERS)(
  '%s: the tests of a Python project run, and their report is kept like other new files',
  {
    ...TIMEOUT,
  },
  async (module) => {
    const files = {
      'calc.py': 'def add(a, b):\n  return a + b\n',
      'test_calc.py':
        'import unittest, calc\nclass T(unittest.TestCase):\n  def test_add(self):\n    self.assertEqual(calc.add(1, 2), 3)\n',
    };
    await using ws = await open({ files, path: PATH });
    await ws.sh(`python3 -m ${module} >report.txt 2>&1`);
    expect(readFileSync(ws.file('report.txt'), 'utf8')).toMatch(/1 passed|Ran 1 test/);
    expect(existsSync(ws.file('.pytest_cache'))).toBe(module === 'pytest');
  },
);

interface CompiledProject {
  /** In front of the search path. */
  readonly path: string | undefined;
  readonly files: Readonly<Record<string, string>>;
  readonly build: string;
  readonly program: string;
  readonly test: string;
  readonly tested: RegExp;
  /** Printed by a second build when the first one was kept with its times. */
  readonly fresh: RegExp;
}

const MAIN = 'int main(void) { puts("built here"); return 0; }\n';
const COMPILED: Readonly<Record<string, CompiledProject>> = {
  cargo: {
    path: rustPrograms(),
    files: {
      'Cargo.toml': '[package]\nname = "app"\nversion = "1.0.0"\nedition = "2021"\n',
      'src/lib.rs': 'pub fn add(a: i32, b: i32) -> i32 { a + b }\n#[test]\nfn adds() { assert_eq!(add(1, 2), 3); }\n',
      'src/main.rs': 'fn main() { assert_eq!(app::add(1, 2), 3); println!("built here"); }\n',
    },
    build: 'cargo build --offline --verbose',
    program: 'target/debug/app',
    test: 'cargo test --offline',
    tested: /test adds \.\.\. ok/,
    fresh: /Fresh app/,
  },
  make: {
    path: succeeds('make', '--version') && succeeds('cc', '--version') ? PATH : undefined,
    files: {
      Makefile: 'out/app: main.c\n\tmkdir -p out\n\tcc -o $@ $<\ntest: out/app\n\t./out/app | grep -c built\n',
      'main.c': `#include <stdio.h>\n${MAIN}`,
    },
    build: 'make',
    program: 'out/app',
    test: 'make test',
    tested: /^1$/m,
    fresh: /is up to date/,
  },
};
const COMPILERS = Object.keys(COMPILED).filter((name) => COMPILED[name]?.path !== undefined);

test('cargo, or make with a C compiler, is there to be tried', () => {
  expect(COMPILERS, 'Install one of them: nothing that compiles was tried.').not.toEqual([]);
});

test.each(COMPILERS)(
  '%s: a build is kept, runs on the host, and is not made again; its tests run',
  TIMEOUT,
  async (name) => {
    const { path, files, build, program, test: check, tested, fresh } = COMPILED[name] as CompiledProject;
    await using ws = await open({ files, path: `${path}:${PATH}` });
    await ws.sh(build);
    expect(ws.host(ws.file(program))).toBe('built here');
    expect(await ws.sh(build)).toMatch(fresh);
    expect(await ws.sh(check)).toMatch(tested);
    expect(await ws.sh(`rm -rf ${program.split('/')[0]} && ${build}`)).not.toMatch(fresh);
    expect(ws.host(ws.file(program))).toBe('built here');
  },
);

/** The programs of Rust's toolchain themselves: those of rustup look for it in the home of the user, which a run does not see. */
function rustPrograms(): string | undefined {
  for (const rustc of ['rustc', join(homedir(), '.cargo/bin/rustc')]) {
    const { status, stdout } = spawnSync(rustc, ['--print', 'sysroot'], { encoding: 'utf8' });
    const programs = join(stdout?.trim() ?? '', 'bin');
    if (status === 0 && existsSync(join(programs, 'cargo'))) return programs;
  }
  return undefined;
}

test('npm install from a registry brings packages, their commands and the lock', TIMEOUT, async () => {
  const server = await startRegistry();
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await using ws = await open({
      files: { 'package.json': '{"name":"app","version":"1.0.0","private":true}\n' },
      dialer: createDialer(),
      network: { hosts: [host], privateAddresses: ['127.0.0.1'] },
    });
    await ws.sh(`npm install --registry=http://${host} --no-audit --no-fund left-padded`);
    expect(ws.asked.join('\n')).toContain('network');
    expect(JSON.parse(readFileSync(ws.file('package.json'), 'utf8'))).toMatchObject({
      dependencies: { 'left-padded': '^1.0.0' },
    });
    expect(existsSync(ws.file('package-lock.json'))).toBe(true);
    expect(readlinkSync(ws.file('node_modules/.bin/left-padded'))).toBe('../left-padded/cli.js');
    expect(ws.host('node_modules/.bin/left-padded')).toBe('..padded');
    await ws.sh('npm uninstall --no-audit --no-fund --offline left-padded');
    expect(existsSync(ws.file('node_modules/left-padded'))).toBe(false);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Serves one package: what is known about it, and its tarball. */
async function startRegistry(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-registry-'));
  const manifest = { name: 'left-padded', version: '1.0.0', bin: 'cli.js' };
  mkdirSync(join(folder, 'package/lib'), { recursive: true });
  writeFileSync(join(folder, 'package/package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(folder, 'package/cli.js'),
    "#!/usr/bin/env node\nconsole.log(require('./lib/pad.js')('padded'));\n",
  );
  writeFileSync(join(folder, 'package/lib/pad.js'), "module.exports = (text) => '..' + text;\n");
  const tarball = execFileSync('tar', ['czf', '-', '-C', folder, 'package']);
  rmSync(folder, { recursive: true });
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const server = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) return void response.end(tarball);
    const dist = { integrity, tarball: `http://${request.headers.host}/left-padded/-/left-padded-1.0.0.tgz` };
    const about = {
      name: 'left-padded',
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': { ...manifest, dist } },
    };
    response.writeHead(request.url === '/left-padded' ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(about));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
