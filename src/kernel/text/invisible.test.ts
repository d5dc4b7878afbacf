import { expect, test } from 'vitest';
import {
  codePointName,
  escapeInvisible,
  HIDDEN,
  hasInvisible,
  invisibleSet,
  removeInvisible,
  STEERING,
} from './invisible.ts';

const BIDI = ['\u202a', '\u202e', '\u2066', '\u2069'];
const UNSEEN = [
  '\u200b',
  '\u200d',
  '\u2060',
  '\ufeff',
  '\u034f',
  '\ufe0f',
  '\u3164',
  '\u{e0041}',
  '\u{e0101}',
  '\ufffe',
  '\ud800',
];

test('every reader of hidden characters knows controls, separators and those that turn the direction', () => {
  for (const character of ['\0', '\x1b', '\x7f', '\x9b', '\u2028', '\u2029', ...BIDI]) {
    expect(
      [STEERING, HIDDEN].map((set) => hasInvisible(`a${character}b`, set)),
      codePointName(character),
    ).toEqual([true, true]);
  }
});

test('what is drawn as nothing is hidden; text, line ends and tabs are not', () => {
  expect(UNSEEN.filter((character) => !hasInvisible(character, HIDDEN))).toEqual([]);
  expect(hasInvisible('Grüße, 你好, שלום 🎉\n\t~', HIDDEN)).toBe(false);
});

test('a set names its classes and its exceptions', () => {
  const controls = invisibleSet(['control'], '\\n');
  expect(removeInvisible('a\x07\n\u200b', controls)).toBe('a\n\u200b');
  expect(escapeInvisible('a\x07\n\u202e', STEERING)).toBe('a\\u0007\\u000a\\u202e');
  expect(escapeInvisible('\u{e0041}', invisibleSet(['tag']), codePointName)).toBe('U+E0041');
});
