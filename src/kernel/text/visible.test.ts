import { expect, test } from 'vitest';
import { oneLine, visible, visibleCommand, visibleText } from './visible.ts';

test('what can be seen stays as it is, and one unseen character among it is written out', () => {
  const plain = 'all of it ~ can be seen\n\tas it stands';
  expect(visible(plain)).toBe(plain);
  for (const [unseen, written] of [
    ['\r', '\\u000d'],
    ['\u200b', '\\u200b'],
    ['\u034f', '\\u034f'],
    ['\u{e0100}', '\\ue0100'],
    ['\u202e', '\\u202e'],
    ['\x7f', '\\u007f'],
    ['\u00a0', '\\u00a0'],
  ]) {
    expect(visible(`${plain}${unseen}${plain}`)).toBe(`${plain}${written}${plain}`);
  }
});

test('in one line, line ends and tabs are written out, and blanks stay as they are', () => {
  expect(oneLine('a  b\n\tc\r\u202e')).toBe('a  b\\n\\tc\\u000d\\u202e');
});

test('what gives a sign its colours is written out but in the text of a file, where it colours something', () => {
  const signs = '⚠\ufe0f ❤\ufe0f 1\ufe0f\u20e3';
  expect(visibleText(`${signs} a\ufe0f ⚠\ufe0f\ufe0f`)).toBe(`${signs} a\\ufe0f ⚠\ufe0f\\ufe0f`);
  expect(visible('⚠\ufe0f')).toBe('⚠\\ufe0f');
  expect(visibleCommand('echo ⚠\ufe0f')).toBe('echo ⚠\\ufe0f');
});

test('spaces at the ends of lines of a command show, and many inside of one take no longer than their length asks for', () => {
  expect(visibleCommand('  a  b \n \nc')).toBe('··a  b·\n·\nc');
  const many = `a${' '.repeat(1_000_000)}b`;
  const started = performance.now();
  expect(visibleCommand(many)).toBe(many);
  expect(performance.now() - started).toBeLessThan(3_000);
});
