import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import { createReadFirst } from '../testing/read-first-sandbox.ts';
import { sandboxCloseCheck, sandboxContract, sandboxModesCheck } from '../testing/sandbox-contract.ts';
import {
  hiddenFileContract,
  oddPathContract,
  openStageContract,
  stageContract,
  stageLifeContract,
} from '../testing/stage-contract.ts';
import { secretContentContract } from '../testing/stages/content-contract.ts';
import { followContract, followedChangesContract } from '../testing/stages/follow-contract.ts';
import { createBubblewrap } from './bubblewrap/bubblewrap.ts';
import { createNone } from './none.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'sandbox-contract-')));
const host = { path: process.env['PATH'] ?? '', home: process.env['HOME'] ?? '/root', stateDir: root };
const secret = 'do-not-show';
process.env['TOOLWRIGHT_CONTRACT_SECRET'] = secret;
const filePolicy = createFilePolicy();

// Node cannot remove folders that are closed and deeper than a path may be long.
afterAll(() => spawnSync('/bin/sh', ['-c', 'chmod -R u+rwx "$1"; rm -rf "$1"', 'sh', root]));

const sandboxes: Record<string, () => Sandbox> = {
  bubblewrap: () => createBubblewrap({ ...host, filePolicy }),
  'bubblewrap without control groups': () => createBubblewrap({ ...host, filePolicy, cgroups: 'never' }),
  'bubblewrap with copies as stages': () => createBubblewrap({ ...host, filePolicy, stages: 'copy' }),
  'a sandbox that stages nothing and reads first': () => createReadFirst({ ...host, filePolicy }),
  none: () => createNone(host),
};

describe.each(Object.entries(sandboxes))('the sandbox contract over %s', (_name, create) => {
  const subject = { sandbox: create(), workspace: () => mkdtempSync(join(root, 'ws-')), secret };

  test('is available', async () => {
    const status = await subject.sandbox.status();
    expect(status).toMatchObject({ ok: true });
  });

  for (const check of [...sandboxContract(subject), sandboxModesCheck(subject), sandboxCloseCheck(subject)])
    test(check.title, check.run);
});

describe.each([
  ['overlays', 'overlay'],
  ['copies', 'copy'],
] as const)('the contract of stages over %s', (_name, stages) => {
  const sandbox = createBubblewrap({ ...host, filePolicy, stages });
  afterAll(() => sandbox.close());
  const subject = { sandbox, workspace: () => mkdtempSync(join(root, 'ws-')) };
  const contracts = [
    stageContract,
    oddPathContract,
    openStageContract,
    stageLifeContract,
    hiddenFileContract,
    secretContentContract,
    followContract,
    followedChangesContract,
  ];
  for (const check of contracts.flatMap((contract) => contract(subject))) test(check.title, check.run);
});
