import { expect, test } from 'vitest';
import { gitConfigs } from './git-configs.ts';

test.each([
  'git remote -v',
  'git remote get-url origin',
  'git config --list',
  'git -C . config -l',
  'git $X',
  "bash -c 'git ls-remote --get-url'",
  'cat .git/config',
  'cat < .git/config',
  'cat ./src/../.git/config | head',
  'cat .git/c*',
  'grep -r url .git',
])('%s may print a configuration of git', (command) => {
  expect(gitConfigs(command)).toEqual(['.git/config']);
});

test.each(['git status', 'git log', 'ls -la .git', 'cat .gitignore', 'cat config', 'echo git remote', 'ls'])(
  '%s does not',
  (command) => {
    expect(gitConfigs(command)).toEqual([]);
  },
);

test('folders are followed, and git looks in those above', () => {
  expect(gitConfigs('cd sub && cat .git/config', 'web')).toEqual(['web/.git/config', 'web/sub/.git/config']);
  expect(gitConfigs('git remote -v', 'web/a')).toEqual(['web/a/.git/config', 'web/.git/config', '.git/config']);
});
