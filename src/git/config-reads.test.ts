import { expect, test } from 'vitest';
import { configsPrinted } from './config-reads.ts';

test.each([
  'git remote -v',
  'git remote get-url origin',
  'git config --list',
  'git -C . config -l',
  'git $X',
  'git -C $X status',
  'git -C remote remote',
  'git --no-pager -c a.b=c remote',
  'git -C -c remote',
  'git submodule foreach git remote -v',
  'git config remote.origin.url',
  'git config remote.origin.url $X',
  'git config --get remote.origin.url',
  'git config get remote.origin.url',
  'git config remote.origin.url --show-origin',
  "bash -c 'git ls-remote --get-url'",
  'cat .git/config',
  'cat < .git/config',
  'cat ./src/../.git/config | head',
  'cat .git/c*',
  'cat .g?t/con*',
  'cat .[a-z]*/config',
  'gi""t remote -v',
  "$'\\x67it' remote",
  'cat .g""it/config',
  'grep -r url .git',
])('%s may print a configuration of git', (command) => {
  expect(configsPrinted(command)).toEqual(['.git/config']);
});

test.each([
  'git status',
  'git log',
  'git commit -m "$(cat <<\'EOF\'\nsay why\nEOF\n)"',
  'git push origin "$BRANCH"',
  'git add config',
  'git checkout -b remote',
  'git -C config -c remote=x status',
  'git config user.name x',
  'git config --global user.email "a b"',
  'ls -la .git',
  'cat .gitignore',
  'cat .e*',
  'cat */config',
  'cat config',
  'echo git remote',
  'ls',
])('%s does not', (command) => {
  expect(configsPrinted(command)).toEqual([]);
});

test('folders are followed, and git looks in those above', () => {
  expect(configsPrinted('cd sub && cat .git/config', 'web')).toEqual(['web/.git/config', 'web/sub/.git/config']);
  expect(configsPrinted('git remote -v', 'web/a')).toEqual(['web/a/.git/config', 'web/.git/config', '.git/config']);
});
