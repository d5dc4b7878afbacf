import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandWorkspace } from '../../testing/command-workspace.ts';
import type { TempWorkspace } from '../../testing/temp-workspace.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';
const LINES = Array.from({ length: 8 }, (_, at) => `${at}AbC9qZ`.padEnd(64, 'xY7/mK2'));
const KEY = `-----BEGIN PRIVATE KEY-----\n${LINES.join('\n')}\n-----END PRIVATE KEY-----\n`;
const RANDOM = 'q7RzK2mX9vT4bN8wLc5Hs3Jd';
const WORD = 'Tr0ub4dor!9x';
const FILES = {
  'docs/notes.txt': `The key of the host:\n${KEY}`,
  'secrets/api': `${RANDOM}\n`,
  'conf/db.yaml': `db:\n  host: x\n  password: "${WORD}"\n`,
  'README.md': '# One\n',
};

let ws: TempWorkspace;
beforeAll(async () => {
  ws = await commandWorkspace({ path, mode: 'auto', files: FILES });
  const git = 'git -c user.name=a -c user.email=a@b';
  execFileSync('bash', ['-c', `${git} init -q && ${git} add -f . && ${git} commit -qm one`], { cwd: ws.root });
}, 60_000);
afterAll(() => ws[Symbol.asyncDispose]());

const SECRETS = [...LINES, RANDOM, WORD].flatMap((secret) => [
  secret.slice(0, 12),
  secret.slice(-12),
  Buffer.from(secret).toString('hex').slice(4, 28),
  Buffer.from(secret).toString('base64').slice(0, 12),
]);

test.each([
  'git show HEAD:FILE',
  'git show HEAD:FILE | base64',
  'git show HEAD:FILE | base64 -w0',
  'git show HEAD:FILE | xxd',
  'git show HEAD:FILE | xxd -p',
  'git show HEAD:FILE | od -An -v -tx1 -w16 | tr -d " "',
  'git show HEAD:FILE | od -v -tx1 -w16',
  'git show HEAD:FILE | sed 1,2d; git show HEAD:FILE | sed -n 3p',
  'git show HEAD:FILE | fold -w 20',
  'git show HEAD:FILE | while read -r line; do echo "$line"; sleep 0.01; done',
  'git grep -n . HEAD -- FILE',
  'git grep -h . HEAD -- FILE',
  'git diff --word-diff 4b825dc642cb6eb9a060e54bf8d69288fbee4904 HEAD -- FILE',
])(
  '%s prints no value of a file that is hidden for its content',
  async (command) => {
    for (const file of ['docs/notes.txt', 'secrets/api', 'conf/db.yaml']) {
      const { text, value, error } = await ws.call('bash', { command: command.replaceAll('FILE', file) });
      expect([file, error]).toEqual([file, null]);
      const shown = JSON.stringify([text, value]);
      for (const secret of SECRETS) expect([file, shown]).toEqual([file, expect.not.stringContaining(secret)]);
    }
  },
  60_000,
);

test('ordinary output beside it stays as it is', async () => {
  const { value } = await ws.call('bash', { command: 'cat README.md; seq 3; git show HEAD:README.md | xxd' });
  expect(value).toMatchObject({
    stdout: expect.stringMatching(/^# One\n1\n2\n3\n00000000: 2320 4f6e 650a\s+# One\.\n$/),
  });
});
