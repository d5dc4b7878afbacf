import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import { sandboxCloseCheck, sandboxContract } from '../testing/sandbox-contract.ts';
import { createBubblewrap } from './bubblewrap/bubblewrap.ts';
import { createNone } from './none.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'sandbox-contract-')));
const host = { path: process.env['PATH'] ?? '', home: process.env['HOME'] ?? '/root', stateDir: root };
const secret = 'do-not-show';
process.env['TOOLWRIGHT_CONTRACT_SECRET'] = secret;
const filePolicy = createFilePolicy();

afterAll(() => rmSync(root, { recursive: true, force: true }));

const sandboxes: Record<string, () => Sandbox> = {
  bubblewrap: () => createBubblewrap({ ...host, filePolicy }),
  'bubblewrap without control groups': () => createBubblewrap({ ...host, filePolicy, cgroups: 'never' }),
  none: () => createNone(host),
};

describe.each(Object.entries(sandboxes))('the sandbox contract over %s', (_name, create) => {
  const subject = { sandbox: create(), workspace: () => mkdtempSync(join(root, 'ws-')), secret };

  test('is available', async () => {
    const status = await subject.sandbox.status();
    expect(status).toMatchObject({ ok: true });
  });

  for (const check of [...sandboxContract(subject), sandboxCloseCheck(subject)]) test(check.title, check.run);
});
