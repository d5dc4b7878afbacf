import { expect, test } from 'vitest';
import { toGitStates } from './git-state.ts';

test('a folder has the most important state of the files in it', () => {
  const states = toGitStates({
    files: [
      { path: 'new/', state: 'untracked' },
      { path: 'src/a/one.ts', state: 'untracked' },
      { path: 'src/two.ts', state: 'modified' },
      { path: 'docs/x.md', state: 'deleted' },
    ],
  });
  expect(Object.fromEntries(states)).toEqual({
    new: 'untracked',
    'src/a/one.ts': 'untracked',
    'src/a': 'untracked',
    src: 'modified',
    'src/two.ts': 'modified',
    'docs/x.md': 'deleted',
    docs: 'deleted',
  });
});
