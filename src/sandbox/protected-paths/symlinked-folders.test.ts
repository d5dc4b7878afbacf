import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { tempWorkspace } from '../../testing/temp-workspace.ts';
import { trySandbox } from '../../testing/try-sandbox.ts';

const path = process.env['PATH'] ?? '';

test('what a rule hides in a folder is hidden when the folder is a link, to commands and to tools', async () => {
  const files = [
    'dk/config.json',
    'dk/notes.txt',
    'conf/gh/hosts.yml',
    'cloud/db',
    'pkg/c/config.json',
    'gem/credentials',
  ];
  await using ws = await tempWorkspace({ files: Object.fromEntries(files.map((name) => [name, 'CANARY'])) });
  const links = {
    '.docker': 'dk',
    '.config': 'second',
    second: 'conf',
    'conf/gcloud': '../cloud',
    'pkg/.docker': 'c',
    short: '.config/gh',
    '.gem': 'node_modules/gem',
    node_modules: 'gem/..',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, ws.file(name));
  const hidden = ['.docker/config.json', '.config/gh/hosts.yml', '.config/gcloud/db', 'short/hosts.yml'];
  await using at = trySandbox({ path });
  for (const file of [...hidden, 'pkg/.docker/config.json', '.gem/credentials']) {
    expect((await ws.call('read_file', { path: file })).error, file).toMatchObject({ code: 'PERMISSION_DENIED' });
    for (const mounts of ['read', 'staged'] as const) {
      const { stdout } = await at.sh(`cat ${file}; echo ran`, { workspace: ws.root, mounts });
      expect(stdout, file).toBe('ran\n');
    }
  }
  expect((await ws.call('read_file', { path: '.docker/notes.txt' })).text).toBe('CANARY');
  expect((await at.sh('cat .docker/notes.txt', { workspace: ws.root })).stdout).toBe('CANARY');
});

test('it cannot be moved, and stays hidden when a run removes the link', async () => {
  await using at = trySandbox({ path });
  at.write('dk/config.json', 'CANARY');
  symlinkSync('dk', join(at.workspace, '.docker'));
  const stage = { folder: await at.stage() };
  await at.sh('mv dk other; mv other/config.json c; rm .docker', { stage });
  expect((await at.sh('cat dk/config.json other/config.json c', { stage })).stdout).toBe('');
});

test('a rule of the user that names folders holds by any chain of links', async () => {
  const rules = [{ pattern: 'mine/**/key.txt', access: 'hidden', reason: 'mine' }] as const;
  await using at = trySandbox({ path, rules });
  at.write('a/deep/key.txt', 'CANARY');
  at.write('b/key.txt', 'CANARY');
  mkdirSync(join(at.workspace, 'mine'));
  symlinkSync('../a', join(at.workspace, 'mine/a'));
  symlinkSync('../../b', join(at.workspace, 'a/deep/b'));
  symlinkSync('..', join(at.workspace, 'a/round'));
  expect((await at.sh('cat mine/a/deep/key.txt mine/a/deep/b/key.txt; echo ran')).stdout).toBe('ran\n');
});

test('nothing runs where links make more paths than can be looked at', async () => {
  const rules = [{ pattern: 'mine/**/key.txt', access: 'hidden', reason: 'mine' }] as const;
  await using at = trySandbox({ path, rules });
  at.write('mine/key.txt', 'CANARY');
  const names = Array.from({ length: 20 }, (_, i) => `l${i}`);
  for (const name of names) symlinkSync('.', join(at.workspace, 'mine', name));
  await expect(at.sh('true')).rejects.toThrow(/^SANDBOX_UNAVAILABLE.*could not be read/);
  for (const name of names.slice(3)) rmSync(join(at.workspace, 'mine', name));
  expect((await at.sh('cat mine/l0/key.txt mine/l0/l1/key.txt; echo ran')).stdout).toBe('ran\n');
});

test('packages and the data of git below a link are not looked into', async () => {
  const rules = [{ pattern: 'mine/**/key.txt', access: 'hidden', reason: 'mine' }] as const;
  await using at = trySandbox({ path, rules });
  at.write('app/src/key.txt', 'CANARY');
  at.write('data/key.txt', 'CANARY');
  at.write('node_modules/dk/key.txt', 'CANARY');
  for (let i = 0; i < 2_600; i++) {
    for (const folder of ['app/node_modules', 'app/.git/objects'])
      mkdirSync(join(at.workspace, folder, `${i}`), { recursive: true });
  }
  mkdirSync(join(at.workspace, 'mine'));
  for (const name of ['app', 'data', 'node_modules/dk']) {
    symlinkSync(`../${name}`, join(at.workspace, 'mine', basename(name)));
  }
  symlinkSync('../app/node_modules', join(at.workspace, 'mine/node_modules'));
  const script = 'cat mine/app/src/key.txt mine/data/key.txt mine/dk/key.txt; echo ran';
  expect((await at.sh(script)).stdout).toBe('ran\n');
});
