import { expect, test } from 'vitest';
import { historyFoldersPrinted } from './history-contents.ts';

test.each([
  'git show',
  'git show HEAD~1',
  'git diff',
  'git diff --staged',
  'git log -p',
  'git log --oneline -5 -p',
  'git --no-pager log --patch',
  'git log -U3',
  'git grep SECRET HEAD',
  'git cat-file -p abc',
  'git blame a.txt',
  'git stash show -p',
  'git status -v',
  'git show --stat -p',
  'timeout 5 git diff | head',
  "bash -c 'git show'",
  "git 'show'",
  'git \\show',
  "git log '-p'",
  'git log $X',
  'git log -L/API/,+1:.env',
  'git show --stat 1a2b3c4',
])('%s may print what files held', (command) => {
  expect(historyFoldersPrinted(command)).toEqual(['.']);
});

test.each(['env -C sub git show', 'env --chdir=sub git log -p', "trap 'git log -p' EXIT; cd sub"])(
  '%s may print what files below held',
  (command) => {
    expect(historyFoldersPrinted(command)).toContain('sub');
  },
);

test.each([
  'git status',
  'git log --oneline',
  'git diff --stat',
  'git show --name-only',
  'git branch -a',
  'echo git show',
  'ls',
])('%s does not', (command) => {
  expect(historyFoldersPrinted(command)).toEqual([]);
});

test('folders are followed', () => {
  expect(historyFoldersPrinted('cd "sub dir" && git diff', 'web')).toEqual(['web', 'web/sub dir']);
});
