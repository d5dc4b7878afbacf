import { expect, test } from 'vitest';
import { gitCredentialsIn, isGitConfig } from './credentials.ts';

test.each([
  ['a password', 'url = https://ana:s3cret@host.org/x.git', ['s3cret']],
  ['a token with a name', '\turl = https://x-access-token:ghp_0123456789@github.com/a/b', ['ghp_0123456789']],
  ['a token in the place of a name', 'url = https://ghp_0123456789abcdef@github.com/a/b', ['ghp_0123456789abcdef']],
  ['another address for one', '[url "https://ci:tok-1@host.org/"]', ['tok-1']],
  ['a header', 'extraheader = AUTHORIZATION: basic QWxhZGRpbg==', ['QWxhZGRpbg==']],
  ['a password of mail', 'smtpPass = "hunter22"', ['hunter22']],
  ['a name alone', 'url = https://ana@host.org/x.git', []],
  ['an address for ssh', 'url = ssh://git@github.com/a/b\nurl = git@github.com:a/b.git', []],
  ['other settings', 'askPass = /usr/bin/askpass\n[credential]\n\thelper = store\nsslCertPasswordProtected = true', []],
])('%s in a configuration of git', (_what, text, found) => {
  expect(gitCredentialsIn(text)).toEqual(found);
});

test('a hostile file takes no time', () => {
  for (const text of ['a.'.repeat(500_000), ' '.repeat(1_000_000), 'a://'.repeat(250_000), 'token'.repeat(200_000)]) {
    expect(gitCredentialsIn(text)).toEqual([]);
  }
});

test.each([
  ['.git/config', true],
  ['a/.git/modules/b/c/config', true],
  ['.git/worktrees/x/config.worktree', true],
  ['mirror.git/config', true],
  ['.gitmodules', true],
  ['config', false],
  ['src/git/config', false],
  ['.git/HEAD', false],
])('%s: %s', (path, is) => {
  expect(isGitConfig(path)).toBe(is);
});
