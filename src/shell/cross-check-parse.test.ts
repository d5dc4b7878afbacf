import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import { judgeCommand } from '../policy/commands/judge-command.ts';
import { isSameReading, parseAgain } from './cross-check-parse.ts';
import { parseScript } from './parse-script.ts';

const where = { root: '/home/ana/project', home: '/home/ana', files: createFilePolicy() };
const DIFFERENTLY = 'two parsers read it differently';

test.each<[string, string[][], string[]?]>([
  ['ls -la "a b" > out 2>&1', [['ls', '-la', '"a b"']], ['out']],
  ['A=1 B="$(pwd)" make', [['pwd'], ['make']]],
  ['if [ -f a ]; then ls; else pwd; fi', [['[', '-f', 'a', ']'], ['ls'], ['pwd']]],
  ['for i in a $(ls); do echo "$i"; done < in', [['ls'], ['echo', '"$i"']], ['in']],
  ['case $x in a|b) ls ;; (*) pwd ;; esac', [['ls'], ['pwd']]],
  ['cat <<E | sh\n$(pwd) "\nE\nls', [['cat'], ['sh'], ['pwd'], ['ls']]],
  ["cat <<'E' > f\n$(pwd)\nE\n", [['cat']], ['f']],
  ['[[ -f a && $x == "$(pwd)" ]] && ls', [['pwd'], ['ls']]],
  ['(cd a && ls) | { cat <(pwd); }', [['cd', 'a'], ['ls'], ['pwd'], ['cat', '<(pwd)']]],
  ["echo $'a\\'b' `pwd` # ; rm x", [['pwd'], ['echo', "$'a\\'b'", '`pwd`']]],
  ['files=(a "b c") ; ls', [['ls']]],
])('reads %j', (source, commands, targets = []) => {
  expect(isSameReading(parseAgain(source) ?? { commands: [], targets: [] }, { commands, targets })).toBe(true);
  expect(parseScript(source).problems).toEqual([]);
});

test.each(['f() { ls; }', 'coproc ls', `\${ ls; }`, 'echo `echo \\`ls\\``', 'echo a)', "echo 'open", 'cat <<E\nopen'])(
  'gives %j up',
  (source) => {
    expect(parseAgain(source)).toBeUndefined();
  },
);

describe('where the two readings differ', () => {
  test.each([
    'echo "$\\\n(pwd)"',
    'ec\\\nho a',
    'cat <<E $(pwd)\n$(ls)\nE\n',
    `echo ${'$('.repeat(60)}pwd${')'.repeat(60)}`,
  ])('%j is asked about, also in mode auto', (source) => {
    expect(parseScript(source).problems).toEqual([DIFFERENTLY]);
    expect(judgeCommand(source, where)).toMatchObject({ verdict: 'ask', rule: 'not understood' });
  });

  test('they do not in any ordinary command', () => {
    const commands = readFileSync(new URL('../../bench/developer-commands.txt', import.meta.url), 'utf8').split('\n');
    expect(commands.filter((command) => parseScript(command).problems.includes(DIFFERENTLY))).toEqual([]);
  });
});
