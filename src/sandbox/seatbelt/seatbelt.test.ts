import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import type { RunRequest } from '../../kernel/world/sandbox.ts';
import { createDialer } from '../../net/dialer.ts';
import { sandboxCloseCheck, sandboxContract, sandboxModesCheck } from '../../testing/sandbox-contract.ts';
import { ran } from '../../testing/try-sandbox.ts';
import { createSeatbelt } from './seatbelt.ts';

/**
 * `sandbox-exec` is on macOS only. Here a program stands in for it that writes down what it was given and runs the
 * command unprotected: so everything around it is tried, and the profile by reading it.
 */
const root = realpathSync(mkdtempSync(join(tmpdir(), 'seatbelt-')));
const program = join(root, 'sandbox-exec');
writeFileSync(program, `#!/bin/sh\n[ "$1" = -p ] || exit 64\nprintf %s "$2" > '${root}/profile'\nshift 2\nexec "$@"\n`);
chmodSync(program, 0o755);
for (const name of ['home', 'state']) mkdirSync(join(root, name));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const workspace = () => mkdtempSync(join(root, 'ws-'));
const create = (more: { program?: string } = {}) =>
  createSeatbelt({
    filePolicy: createFilePolicy(),
    dialer: createDialer(),
    path: process.env['PATH'] ?? '',
    home: join(root, 'home'),
    stateDir: join(root, 'state'),
    program,
    ...more,
  });
const secret = 'do-not-show';
process.env['TOOLWRIGHT_CONTRACT_SECRET'] = secret;

describe('the sandbox contract over what is around seatbelt', () => {
  const subject = { sandbox: create(), workspace, secret };
  for (const check of [...sandboxContract(subject), sandboxModesCheck(subject), sandboxCloseCheck(subject)])
    test(check.title, check.run);
});

test('a run gets a profile of its folders, its limits and a private home that goes with it', async () => {
  const sandbox = create();
  const at = workspace();
  writeFileSync(join(at, '.env'), 'KEY=1');
  const script = 'ulimit -n; echo "$HOME"; echo "$TOOLWRIGHT_SANDBOX"; touch "$TMPDIR/x" new.txt';
  const request: RunRequest = { command: { script }, workspace: at, mounts: 'live', tag: 't' };
  const result = await sandbox.run({ ...request, limits: { openFiles: 64 } });
  if (!result.ok) throw new Error(result.error.message);
  const { stdout, staged, sandbox: kind } = ran(result.value);
  const [files, home = '', said] = stdout.split('\n');
  expect([files, said, kind, staged]).toEqual(['64', 'seatbelt', 'seatbelt', null]);
  expect(existsSync(join(at, 'new.txt'))).toBe(true);
  const profile = readFileSync(join(root, 'profile'), 'utf8');
  expect(profile).toContain(`(deny file-read* file-write* (subpath "${at}/.env"))`);
  expect(profile).toContain(`(allow file-write* (subpath "${at}"))`);
  expect(profile).toContain('(deny network*)');
  expect([home.startsWith(join(root, 'state')), existsSync(home)]).toEqual([true, false]);
  await sandbox.close();
  expect(readdirSync(join(root, 'state'))).toEqual([]);
});

test('the profile denies writes to what the host obeys, also what the configuration of git names', async () => {
  const sandbox = create();
  const at = workspace();
  for (const name of ['objects', 'refs', 'hooks']) mkdirSync(join(at, '.git', name), { recursive: true });
  mkdirSync(join(at, 'my-hooks'));
  writeFileSync(join(at, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(at, '.git/config'), '[core]\n\thooksPath = my-hooks\n');
  const result = await sandbox.run({ command: ['true'], workspace: at, mounts: 'live', tag: 't' });
  if (!result.ok) throw new Error(result.error.message);
  const profile = readFileSync(join(root, 'profile'), 'utf8');
  for (const name of ['.git/hooks', '.git/config', 'my-hooks', '.toolwright']) {
    expect(profile).toContain(`(deny file-write* (subpath "${at}/${name}"))`);
  }
  await sandbox.close();
});

test('with allowed hosts a run is told of a proxy, and the profile lets it through to that alone', async () => {
  const sandbox = create();
  const command: RunRequest['command'] = { script: 'echo "$HTTPS_PROXY"' };
  const network = { hosts: ['example.com'] };
  const result = await sandbox.run({ command, workspace: workspace(), mounts: 'read', tag: 't', network });
  if (!result.ok) throw new Error(result.error.message);
  const port = /127\.0\.0\.1:(\d+)/.exec(ran(result.value).stdout)?.[1];
  const profile = readFileSync(join(root, 'profile'), 'utf8');
  expect(profile).toContain(`(allow network-outbound (remote tcp "localhost:${port}"))`);
  await sandbox.close();
});

test('where there is no sandbox-exec nothing runs, and the message says what to do', async () => {
  const sandbox = create({ program: '/nowhere/sandbox-exec' });
  const refused = { ok: false, error: { code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('macOS') } };
  expect(await sandbox.status()).toMatchObject(refused);
  const request: RunRequest = { command: ['true'], workspace: workspace(), mounts: 'read', tag: 't' };
  expect(await sandbox.run(request)).toMatchObject(refused);
  await sandbox.close();
});
