import { describe, expect, test } from 'vitest';
import { countLines } from '../../scripts/walk/count-lines.ts';
import { isWithinTolerance } from '../../scripts/walk/tolerance.ts';

describe('the measured walk', () => {
  test('counts the lines of functions that ran, and none of an inner function that did not', () => {
    const text = 'function outer() {\n  inner();\n\n  function inner() {}\n  function idle() {\n  }\n}\nouter();\n';
    const span = (start: string, end: string) => ({ start: text.indexOf(start), end: text.indexOf(end) + end.length });
    const outer = { name: 'outer', ...span('function outer', '  }\n}'), ran: true };
    const inner = { name: 'inner', ...span('function inner', 'inner() {}'), ran: true };
    const idle = { name: 'idle', ...span('function idle', 'idle() {\n  }'), ran: false };
    expect(countLines(text, [idle, inner, outer])).toBe(4);
    expect(countLines(text, [idle, { ...inner, ran: false }, outer])).toBe(3);
  });

  test.each([
    ['the same', '| runtime | 21 | 720 |', '| runtime | 21 | 720 |', true],
    ['a share of a large number', '| runtime | 21 | 720 |', '| runtime | 21 | 750 |', true],
    ['a little of a small number', '| runtime | 21 | 720 |', '| runtime | 26 | 720 |', true],
    ['more than that', '| runtime | 21 | 720 |', '| runtime | 21 | 760 |', false],
    ['another word', '| runtime | 21 | 720 |', '| policy | 21 | 720 |', false],
    ['another row', '| runtime | 21 | 720 |', '| runtime | 21 | 720 |\n| mcp | 1 | 6 |', false],
  ])('judges a difference of %s', (_difference, page, measured, isAccepted) => {
    expect(isWithinTolerance(page, measured)).toBe(isAccepted);
  });
});
