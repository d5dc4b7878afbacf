import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandWorkspace } from '../../testing/command-workspace.ts';
import type { TempWorkspace } from '../../testing/temp-workspace.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';
const COMMIT = 'git add a.txt && git commit -qm first && git log -1 --format="%an <%ae> | %cn <%ce>"';

/** A repository of a user with this configuration. */
async function repository(gitconfig: string, more: Record<string, string> = {}): Promise<TempWorkspace> {
  const homeFiles = { '.gitconfig': gitconfig, ...more };
  const ws = await commandWorkspace({ path, mode: 'auto', files: { 'a.txt': 'one\n' }, homeFiles });
  execFileSync('git', ['init', '-q', ws.root]);
  return ws;
}

async function committed(ws: TempWorkspace): Promise<string> {
  return (await ws.call('bash', { command: COMMIT })).text;
}

describe('a commit', () => {
  test('has the name and the e-mail address of the user, and nothing else of that configuration', async () => {
    await using ws = await repository(
      '[user]\n\tname = "Ada \\"the\\" Lovelace" ; me\n[include]\n\tpath = mail\n[alias]\n\tst = status\n',
      { mail: '[user]\n\temail = ada@example.org\n' },
    );
    expect(await committed(ws)).toContain(
      'Ada "the" Lovelace <ada@example.org> | Ada "the" Lovelace <ada@example.org>',
    );
    const { text } = await ws.call('bash', { command: 'cat /etc/gitconfig; git st' });
    expect(text).toContain("'st' is not a git command");
    expect(text).toMatch(/^\[user\]\n\tname = .*\n\temail = .*\n<stderr>/);
  });

  test("has the repository's own identity where it has one", async () => {
    await using ws = await repository('[user]\n\tname = Ada\n\temail = ada@example.org\n');
    execFileSync('git', ['-C', ws.root, 'config', 'user.email', 'work@example.org']);
    expect(await committed(ws)).toContain('Ada <work@example.org>');
  });

  test.each([
    ['is not there', ''],
    ['has control characters', '[user]\n\tname = A\u001b[31mda\n\temail = ada@example.org\n'],
    ['is absurdly long', `[user]\n\tname = ${'A'.repeat(201)}\n\temail = ada@example.org\n`],
  ])('without an identity says which two commands the user types: one that %s', async (_why, gitconfig) => {
    await using ws = await repository(gitconfig);
    expect(await committed(ws)).toMatch(
      /\[exit code 128.*\[Your git configuration has no usable name.*git config --global user\.name .*git config --global user\.email /s,
    );
    // As told: no restart is needed.
    writeFileSync(join(ws.root, '../../home/.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.org\n');
    expect(await committed(ws)).toContain('Ada <ada@example.org>');
  });
});
