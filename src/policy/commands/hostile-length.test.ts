import { expect, test } from 'vitest';
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import { readCommandPlan } from '../../shell/command-plan.ts';
import { parseRule } from '../rules/parse-rules.ts';
import { wordPattern } from '../rules/word-pattern.ts';
import { judgeCommand } from './judge-command.ts';

const within = (front: string, depth: number, inside: string) => front.repeat(depth) + inside + ')'.repeat(depth);
const where = { root: '/home/ana/project', home: '/home/ana', files: createFilePolicy() };
const numbers = (count: number, front = '') => Array.from({ length: count }, (_, at) => `${front}${at}`).join(' ');

/** Each took from many seconds to for ever, in one of those that look at a command. */
const ASKED: Readonly<Record<string, string>> = {
  'verbs in front of a script': `node ${'x '.repeat(49_000)}`,
  'options that may be names': `tar ${'-abcdefghijklmnopqrstuvwxyz '.repeat(3_500)}`,
  'programs that look around': `rm a; ${'fd '.repeat(32_900)}`,
  'files to remove': `rm ${'a '.repeat(49_000)}`,
  'words of git': `git ${'a '.repeat(49_000)}`,
  'interpreters that try other names': 'python a '.repeat(11_000),
  'many folders to start in': `tar ${numbers(9_000, '-C d')}`,
  'a cd with many words': `touch x; cd ${numbers(15_000)}`,
  'launchers that launch': 'npx -a '.repeat(14_000),
  'files to read from many folders': `cd a;cd b;cd c;cd d; cat ${'a '.repeat(49_000)}`,
  'files to remove from many folders': `cd a;cd b;cd c;cd d; rm ${'a '.repeat(49_000)}`,
  'variables that may be options': `X=-a; X=-b; X=-c; rm ${'$X '.repeat(32_000)}`,
  'substitutions in each other with many words': within('ls $(echo ', 38, 'a '.repeat(45_000)),
  'fewer braces and more commas': `echo {a,b}${'{'.repeat(200)}${','.repeat(99_000)}`,
  'actions of find': `find . ${'-exec '.repeat(16_000)}`,
  'a loop with interpreters that try other names': `for i in 1 2; do python ${numbers(14_000)}; cd a; done`,
  'a loop that goes to many folders': `for i in 1 2; do rm ${'a '.repeat(45_000)}; cd a; cd b; done`,
  'commands with such variables': `X=-a; X=-b; X=-c; ${'rm $X;'.repeat(16_000)}`,
  'programs that take folders whole': `rm a; ${'find '.repeat(19_800)}`,
  'braces and commas': `echo {a,b}${'{'.repeat(45_000)}${','.repeat(45_000)}`,
  'braces that nothing closes': `echo ${'{x'.repeat(49_000)}`,
  'a deep folder and many commands': `cd ${'a/'.repeat(2_000)}; ${'npm test; git remote; '.repeat(1_000)}`,
  'a cd to where it is, many times': `cd ${'b/'.repeat(2_000)}; cd c; ${'cd .;'.repeat(15_000)}`,
  'find that runs find': `find . ${'-exec find '.repeat(8_000)}`,
  'texts within it that nothing ends': '<<E '.repeat(24_750),
  'variables in front of variables': `${'env '.repeat(19_000)}ls`,
  'variables taken away, again and again': `${'env -i '.repeat(40)}ls`,
  'the same many times': `${'env -u PATH '.repeat(8_000)}bash -c ls`,
  'commands in many folders': `cd a;cd b;cd c;cd d; ${'rm a b c d;'.repeat(8_000)}`,
  'nothing but substitutions in each other': `ls ${within('$(', 38, 'a '.repeat(45_000))}`,
  'substitutions deeper than anybody writes': `ls ${within('$(', 33_000, 'a')}`,
  'scripts that are piped on': `${'{ '.repeat(38)}echo ${'a '.repeat(40_000)}${'; } | sh'.repeat(38)}`,
  'questions in an address': `curl 'a${'/x?'.repeat(32_000)}\n'`,
  'an eval of evals': 'eval '.repeat(19_000),
  'a loop with many commands that goes on and on': `for i in 1; do ${numbers(14_000, 'a').replaceAll(' ', ';')}; cd a; done`,
  'variables that may be long options': `${numbers(20, `X=-${'a'.repeat(2_400)}`).replaceAll(' ', ';')};${'rm $X;'.repeat(7_000)}`,
  'the same in a loop': `for i in 1; do ${'find '.repeat(19_000)}; cd a; done`,
  'names whose content is meant': `curl -d ${'@a,'.repeat(32_000)}`,
};

const ALLOWED: Readonly<Record<string, string>> = {
  'a deep folder': `cd ${'a/'.repeat(49_000)}; npm test; git remote`,
  'stars and a letter in turn': `cat ./${'*a'.repeat(49_000)}`,
  'brackets that nothing closes': `cat ${'['.repeat(90_000)}*`,
  'a range that ends before it begins': 'cat .en[z-a]',
  'stars in front of a new line': `rm -rf ${'a*'.repeat(45_000)}'\n'x`,
  'slashes in front of a name': `mv ${'/'.repeat(90_000)}x y`,
  'digits in front of a letter': `${'1'.repeat(99_000)}x`,
  'blanks between the commands of sed': `sed '${'p;    '.repeat(40)}X' f`,
  'options of npm that may be values': `npm ${'+a '.repeat(200)}x`,
  'brackets for a builtin that computes': `test '${'['.repeat(99_000)}'`,
  'brackets for a builtin that names': `read '${'['.repeat(99_000)}'`,
  'quotes in front of a pattern': `rm ${`'['`.repeat(30_000)}*`,
  'many stars': `cat ./${'*'.repeat(30)}z`,
  'a deep file': `cat ${'a/'.repeat(49_000)}b`,
  'a deep file in folders named like those of git': `cat ${'refs/'.repeat(19_000)}b`,
  'a deep file in bare repositories': `cat ${'a.git/'.repeat(16_000)}'\n'`,
};

test.each(Object.entries(ASKED))(
  '%s: asked about, in time',
  (_what, command) => {
    expect(judgedInTime(command)).toBe('ask');
  },
  20_000,
);

test.each(Object.entries(ALLOWED))(
  '%s: judged in time',
  (_what, command) => {
    expect(judgedInTime(command)).toBe('allow');
  },
  20_000,
);

test('a name for which there are too many rules on its path is held back', () => {
  expect(judgedInTime(`cat ${'credentials/'.repeat(8_000)}b`)).toBe('deny');
});

test('what names a place that nobody wants to lose is refused among many words and folders', () => {
  expect(judgedInTime(`cd /a;cd b;cd c;cd d; rm -rf ${'a '.repeat(40_000)}/usr`)).toBe('deny');
  expect(judgedInTime(`cd /;cd b;cd c;cd d; rm -rf ${'a '.repeat(40_000)}usr`)).toBe('deny');
});

test('a star in a rule for a command takes each piece where it first fits', () => {
  const began = performance.now();
  const { matches } = wordPattern('*a*b');
  expect(matches('a'.repeat(99_000))).toBe(false);
  expect(performance.now() - began).toBeLessThan(4_000);
  for (const word of ['ab', 'xaxb', 'aab', 'abab']) expect([word, matches(word)]).toEqual([word, true]);
  for (const word of ['a', 'b', 'ba', 'abx', '']) expect([word, matches(word)]).toEqual([word, false]);
  expect(wordPattern('ab*ba').matches('aba')).toBe(false);
  expect(wordPattern('a*b*b').matches('ab')).toBe(false);
});

test('a pattern for paths with many folders in it is tried in time', () => {
  const rule = parseRule('read_file(**/x/**/y/**/z)', 'deny');
  if (!rule.ok) throw new Error(rule.error.message);
  const files = createFilePolicy([{ pattern: '**/x/**/y/**/z', access: 'hidden', reason: 'of the test' }]);
  const path = `${'x/y/'.repeat(2_000)}z`;
  const began = performance.now();
  expect(rule.value.matchesPath(`${path}/w`)).toBe(false);
  expect(rule.value.matchesPath(path)).toBe(true);
  expect(files.judge(`${'x/y/w/'.repeat(2_000)}z`).access).toBe('hidden');
  expect(files.judge(`${'y/x/'.repeat(2_000)}z`).access).toBe('hidden');
  expect(files.judge(`${'x/'.repeat(4_000)}z`).access).toBe('writable');
  expect(performance.now() - began).toBeLessThan(4_000);
});

test('an action of find counts also behind one that is a name to be found', () => {
  expect(judgeCommand(readCommandPlan('find . -name -exec -exec rm -rf / \\;'), where).verdict).toBe('deny');
  expect(judgeCommand(readCommandPlan('find . -exec ls {} \\; -exec rm -rf / \\;'), where).verdict).toBe('deny');
});

test('a pattern that goes up behind its star is not harmless', () => {
  expect(judgeCommand(readCommandPlan('rm -rf x*/../../..'), where).verdict).toBe('deny');
});

function judgedInTime(command: string): string {
  const before = process.cpuUsage();
  const { verdict } = judgeCommand(readCommandPlan(command), where);
  // Of the processor: a busy machine takes longer, and says nothing about us.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(1_000);
  return verdict;
}
