import { expect, test } from 'vitest';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import { createPolicy } from '../create-policy.ts';

/** Names that every object has, so that a table seems to know them. */
const NAMES = [...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'length', 'call'];

const SHAPES = [
  ...['X', 'X X', 'X a.sh', 'X1.2 a.sh', './X a', 'X=1', 'X=1 ls', 'export X=1', '$X', 'env X=1 X', 'env -S X'],
  ...['echo X', 'echo -X', 'echo --X=X', 'cat < X', 'ls > X', 'cd X; sh X', 'sh X', 'node X', 'python -m X', 'find X'],
  ...['git X', 'git -c X=X X', 'git config X', 'git log --X', 'npm X', 'npm run X', 'npx X X', 'cargo X', 'docker X X'],
  ...['xargs X', 'find . -X X', 'find . -exec X {} +', 'bash -c X', 'eval X', 'trap X EXIT', 'sed X f', 'awk X f'],
  ...[
    'for X in X; do X; done',
    'X() { X; }; X',
    'sudo -u X X',
    'timeout 5 X',
    'kubectl X X',
    'terraform X',
    'tar -X X',
  ],
];
const context = new ExecutionContext({ workingDir: '/home/ana/project' });

test.each(NAMES)('%s is a word like any other', (name) => {
  for (const mode of ['ask', 'auto'] as const) {
    const policy = createPolicy({ mode, rules: [], files: createFilePolicy(), home: '/home/ana' });
    const own = { tool: 'bash', args: {}, effect: 'once', ownReason: undefined, asksAlways: false, context } as const;
    const verdict = (command: string) =>
      policy.decide({ ...own, access: [{ kind: 'process.run', command, writes: 'stage' }] }).verdict;
    const looks = (word: string) =>
      SHAPES.map((shape) => {
        const command = shape.replaceAll('X', word);
        return [shape, verdict(command)];
      });
    // As many letters, since some of them are taken for options.
    expect(looks(name)).toEqual(looks(name.replace(/[a-z]/gi, 'z')));
  }
});
