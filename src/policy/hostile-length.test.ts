import { expect, test } from 'vitest';
import { createFilePolicy } from '../kernel/file-policy.ts';
import { judgeCommand } from './commands/judge-command.ts';
import { operandsOf } from './commands/operands.ts';
import { gitConfigs } from './git-configs.ts';
import { gitContents } from './git-contents.ts';
import { scriptFiles } from './script-files.ts';

const where = { root: '/home/ana/project', home: '/home/ana', files: createFilePolicy() };
const numbers = (count: number, front = '') => Array.from({ length: count }, (_, at) => `${front}${at}`).join(' ');

/** Each took from many seconds to for ever, in one of the five that look at a command. */
const ASKED: Readonly<Record<string, string>> = {
  'stars and a letter in turn': `cat ./${'*a'.repeat(49_000)}`,
  'brackets that nothing closes': `cat ${'['.repeat(90_000)}*`,
  'a range that ends before it begins': 'cat .en[z-a]',
  'a cd with many words': `touch x; cd ${numbers(15_000)}`,
  'many folders to start in': `tar ${numbers(9_000, '-C d')}`,
  'braces and commas': `echo {a,b}${'{'.repeat(45_000)}${','.repeat(45_000)}`,
  'braces that nothing closes': `echo ${'{x'.repeat(49_000)}`,
  'stars in front of a new line': `rm -rf ${'a*'.repeat(45_000)}'\n'x`,
  'slashes in front of a name': `mv ${'/'.repeat(90_000)}x y`,
  'digits in front of a letter': `${'1'.repeat(99_000)}x`,
  'a deep folder': `cd ${'a/'.repeat(49_000)}; npm test; git remote`,
  'a deep folder and many commands': `cd ${'a/'.repeat(2_000)}; ${'npm test; git remote; '.repeat(1_000)}`,
  'a cd to where it is, many times': `cd ${'b/'.repeat(2_000)}; cd c; ${'cd .;'.repeat(15_000)}`,
  'actions of find': `find . ${'-exec '.repeat(16_000)}`,
  'find that runs find': `find . ${'-exec find '.repeat(8_000)}`,
  'blanks between the commands of sed': `sed '${'p;    '.repeat(40)}X' f`,
  'options of npm that may be values': `npm ${'+a '.repeat(200)}x`,
};

const READ: Readonly<Record<string, string>> = {
  'many stars': `cat ./${'*'.repeat(30)}z`,
  'fewer braces and more commas': `echo {a,b}${'{'.repeat(200)}${','.repeat(99_000)}`,
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

test.each(Object.entries(READ))(
  '%s: judged in time',
  (_what, command) => {
    expect(judgedInTime(command)).toBe('allow');
  },
  20_000,
);

test('a name for which there are too many rules on its path is held back', () => {
  expect(judgedInTime(`cat ${'credentials/'.repeat(8_000)}b`)).toBe('deny');
});

test('what was left out is said', () => {
  expect(operandsOf(`cd ${numbers(30)}`)).toMatchObject({ complete: false });
  expect(operandsOf(`cd ${'a/'.repeat(1_000)}; cat b`)).toMatchObject({ complete: false });
  expect(operandsOf(`echo ${'{x'.repeat(6_000)}`)).toMatchObject({ complete: false });
  expect(scriptFiles(`cd ${'a/'.repeat(3_000)}; npm test`).unclear).toContain('longer than any');
  expect(scriptFiles(`make -C ${'a/'.repeat(3_000)}`).unclear).toContain('longer than any');
});

test('an action of find counts also behind one that is a name to be found', () => {
  expect(judgeCommand('find . -name -exec -exec rm -rf / \\;', where).verdict).toBe('deny');
  expect(judgeCommand('find . -exec ls {} \\; -exec rm -rf / \\;', where).verdict).toBe('deny');
});

test('a pattern that goes up behind its star is not harmless', () => {
  expect(judgeCommand('rm -rf x*/../../..', where).verdict).toBe('deny');
});

function judgedInTime(command: string): string {
  let verdict = '';
  const judge = () => {
    verdict = judgeCommand(command, where).verdict;
  };
  for (const look of [judge, operandsOf, scriptFiles, gitConfigs, gitContents]) {
    const began = performance.now();
    look(command);
    expect(performance.now() - began).toBeLessThan(4_000);
  }
  return verdict;
}
