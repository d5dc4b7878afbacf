import { expect, test } from 'vitest';
import { statesOf } from './git-state.ts';

test('a folder has the state that matters most of what is in it', () => {
  const states = statesOf({
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
