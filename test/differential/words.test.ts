import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { parseScript } from '../../src/shell/parse-script.ts';
import { createRandom, type Random } from './generate-commands.ts';

const COUNT = 20_000;
const ENDS_A_WORD = '\0';

test('a word whose text is taken as known is that text to bash', () => {
  const known = knownWords(20_261);
  expect(known.length).toBeGreaterThan(COUNT / 10);
  const script = known.map(({ text }) => `printf '%s\\0' ${text}\n`).join('');
  const printed = execFileSync('/bin/bash', {
    input: script,
    encoding: 'utf8',
    env: { LANG: 'C.UTF-8', PATH: '/nowhere' },
  });
  const values = printed.split(ENDS_A_WORD);
  expect(known.filter(({ value }, at) => value !== values[at])).toEqual([]);
  expect(values).toHaveLength(known.length + 1);
});

/** Generated words of which the policy says what they become. */
function knownWords(seed: number): { text: string; value: string }[] {
  const random = createRandom(seed);
  const texts = Array.from({ length: COUNT }, () => word(random)).filter((text) => text !== '');
  return texts.flatMap((text) => {
    const { commands, problems } = parseScript(`printf '%s\\0' ${text}`);
    const [, , only, ...more] = commands[0]?.words ?? [];
    const isKnown = problems.length === 0 && commands.length === 1 && commands[0]?.redirections.length === 0;
    if (!isKnown || only?.value == null || only.pattern || only.text !== text || more.length > 0) return [];
    return [{ text, value: only.value }];
  });
}

const PLAIN = ['a', 'Z', '0', '7', '-', '.', '/', '=', ':', '@', '%', '+', ',', '_', '~', '^', '字', 'é'];
const SPECIAL = ['{', '}', '[', ']', '!', '#', '?', '*', '(', ')', '<', '&', ';', '|', '$', '`', ' ', '\n', '\t'];
const AFTER_BACKSLASH = [
  ...PLAIN,
  ...SPECIAL,
  'n',
  't',
  'e',
  'E',
  'x',
  'x41',
  'x{41}',
  'x{',
  'x4',
  'xe4',
  '101',
  '60',
  '377',
  '0',
];
const ESCAPES = [
  ...AFTER_BACKSLASH,
  '0101',
  'u0041',
  'u41',
  'U00000041',
  'ud800',
  'U110000',
  'cA',
  'c\\\\',
  '"',
  '\\',
  "'",
  '?',
];

function word(random: Random): string {
  return Array.from({ length: random([1, 2, 3, 4]) }, () => piece(random)).join('');
}

function piece(random: Random): string {
  switch (random(['plain', 'plain', 'special', 'backslash', 'single', 'double', 'escaped', 'escaped'])) {
    case 'special':
      return random(SPECIAL);
    case 'backslash':
      return `\\${random(AFTER_BACKSLASH)}`;
    case 'single':
      return `'${inside(random, ["'"])}'`;
    case 'double':
      return `"${inside(random, ['"', '$', '`'])}${random(['', '\\"', '\\$', '\\`', '\\\\', '\\a', '\\\n'])}"`;
    case 'escaped':
      return `$'${inside(random, ["'"])}\\${random(ESCAPES)}${random(PLAIN)}'`;
    default:
      return random(PLAIN);
  }
}

function inside(random: Random, without: readonly string[]): string {
  const characters = [...PLAIN, ...SPECIAL].filter((each) => !without.includes(each));
  return Array.from({ length: random([0, 1, 2]) }, () => random(characters)).join('');
}
