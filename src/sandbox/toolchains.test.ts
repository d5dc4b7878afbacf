import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { trySandbox } from '../testing/try-sandbox.ts';

const at = trySandbox({ path: '/usr/bin:/bin' });
afterAll(() => at[Symbol.asyncDispose]());

function put(path: string, text: string): void {
  const file = join(at.home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o755 });
}

test('rustup finds its toolchains, unless the command says where they are', async () => {
  put('.cargo/bin/cargo', '#!/bin/sh\n. "$RUSTUP_HOME/settings"\n');
  put('.rustup/settings', 'echo the toolchain of the user\n');
  await using other = trySandbox({ path: `${at.home}/.cargo/bin:/usr/bin:/bin`, home: at.home });
  expect((await other.sh('cargo')).stdout).toBe('the toolchain of the user\n');
  expect((await other.sh('export RUSTUP_HOME=/none; cargo')).stdout).toBe('');
});

test('version managers are there without what they log in with', async () => {
  const secrets = [
    '.rye/credentials',
    '.rye/config.toml',
    '.local/share/uv/credentials/credentials.toml',
    '.nvm/versions/node/v20.0.0/etc/npmrc',
    '.volta/tools/image/node/20.0.0/etc/npmrc',
    '.nvm/.npmrc',
    'miniconda3/.condarc',
    'miniconda3/pip.conf',
    '.asdf/.gemrc',
    'miniconda3/envs/one/.condarc',
    '.pixi/credentials.json',
    '.asdf/npmrc-of-mine',
  ];
  for (const path of secrets) put(path, 'channels: [https://me:CANARY@host/t/CANARY]');
  symlinkSync('npmrc-of-mine', join(at.home, '.asdf/.npmrc'));
  const programs = [
    '.rye/shims/from-rye',
    '.local/bin/from-local',
    '.local/share/uv/tools/one/bin/from-uv',
    '.nvm/versions/node/v20.0.0/bin/from-nvm',
    '.volta/bin/from-volta',
    'miniconda3/bin/from-conda',
    '.pixi/bin/from-pixi',
    '.asdf/shims/from-asdf',
  ];
  for (const path of programs) put(path, '#!/bin/sh\necho "$(basename "$0")"\n');
  put('miniconda3/envs/two/.condarc', 'channels: [conda-forge]\n');

  const folders = programs.filter((path) => !path.includes('/uv/')).map((path) => dirname(join(at.home, path)));
  await using other = trySandbox({ path: `${folders.join(':')}:/usr/bin:/bin`, home: at.home });
  const ran = await other.sh(programs.map((path) => join(at.home, path)).join('; '));
  expect(ran.stdout.trim().split('\n')).toEqual(programs.map((path) => path.slice(path.lastIndexOf('/') + 1)));
  const shown = await other.sh(
    `cd ${at.home}; cat ${secrets.join(' ')} .asdf/.npmrc; cat miniconda3/envs/two/.condarc`,
  );
  expect(shown.stdout).toBe('channels: [conda-forge]\n');
});

test('what they log in with may go, come back and change while the sandbox is open', async () => {
  put('.nodenv/shims/from-nodenv', '#!/bin/sh\n');
  const [gone, link, settings] = ['.nodenv/.netrc', '.nodenv/.pypirc', '.nodenv/.condarc'];
  put(gone, 'CANARY');
  put('.nodenv/target', 'CANARY');
  symlinkSync('target', join(at.home, link));
  put(settings, 'channels: [conda-forge]\n');
  await using other = trySandbox({ path: `${at.home}/.nodenv/shims:/usr/bin:/bin`, home: at.home });
  const shown = async () => (await other.sh(`cd ${at.home}; cat ${gone} ${link} ${settings}; echo ran`)).stdout;
  expect(await shown()).toBe('channels: [conda-forge]\nran\n');
  for (const path of [gone, '.nodenv/target']) rmSync(join(at.home, path));
  expect(await shown()).toBe('channels: [conda-forge]\nran\n');
  for (const path of [gone, '.nodenv/target', settings]) put(path, 'token: CANARY');
  expect(await shown()).toBe('ran\n');
});

test('settings without a secret and programs that are called credentials are there', async () => {
  const shown = {
    '.rbenv/etc/npmrc': 'registry=https://npm.example.com/\ncafile=/etc/ssl/ca.pem\n',
    '.rbenv/.yarnrc.yml': 'npmRegistryServer: https://npm.example.com\n',
    '.rbenv/plugins/credentials.py': 'import os\n',
    '.rbenv/plugins/credentials.js': 'export {};\n',
  };
  const masked = {
    '.rbenv/.npmrc': '//npm.example.com/:_authToken=CANARY\n',
    '.rbenv/one/.npmrc': 'key="-----BEGIN PRIVATE KEY-----CANARY"\n',
    '.rbenv/one/.yarnrc.yml': 'npmAuthIdent: CANARY\n',
    '.rbenv/one/credentials.yml': 'CANARY\n',
    '.rbenv/one/credentials': 'CANARY\n',
  };
  for (const [path, text] of Object.entries({ ...shown, ...masked })) put(path, text);
  put('.rbenv/shims/from-rbenv', '#!/bin/sh\n');
  await using other = trySandbox({ path: `${at.home}/.rbenv/shims:/usr/bin:/bin`, home: at.home });
  const all = [...Object.keys(shown), ...Object.keys(masked)];
  const { stdout } = await other.sh(`cd ${at.home}; cat ${all.join(' ')}`);
  expect(stdout).toBe(Object.values(shown).join(''));
});

test('of the programs that a person keeps at home, what lies beside them is not there', async () => {
  for (const folder of ['bin', '.local/bin']) {
    put(`${folder}/own-program`, '#!/bin/sh\necho ran\n');
    writeFileSync(join(at.home, folder, 'notes.txt'), 'CANARY');
  }
  const path = ['bin', '.local/bin'].map((folder) => join(at.home, folder));
  await using other = trySandbox({ path: `${path.join(':')}:/usr/bin:/bin`, home: at.home });
  const { stdout } = await other.sh(
    `${path.map((folder) => `${folder}/own-program; cat ${folder}/notes.txt`).join('; ')}`,
  );
  expect(stdout).toBe('ran\nran\n');
});
