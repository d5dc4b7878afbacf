import { createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { replacedBlock } from './diff-text.ts';

const lines = (letters: string) => fc.array(fc.constantFrom(...letters.split('')), { maxLength: 6 });

test('a block that takes the place of another reads as a full comparison would say it', () => {
  fc.assert(
    fc.property(
      lines('abc\r'),
      lines('xyz'),
      lines('uvw'),
      lines('def'),
      fc.boolean(),
      (head, old, fresh, tail, ends) => {
        const text = (middle: string[]) => [...head, ...middle, ...tail].join('\n') + (ends ? '\n' : '');
        const [before, after] = [text(old), text(fresh)];
        fc.pre(before !== after);
        expect(replacedBlock(before, after, 3)).toEqual(compared(before, after));
      },
    ),
  );
});

test('whatever it answers for, a comparison removes and adds as many lines', () => {
  fc.assert(
    fc.property(lines('ab'), lines('ab'), (old, fresh) => {
      const [before, after] = [`${old.join('\n')}\n`, `${fresh.join('\n')}\n`];
      const block = before === after ? undefined : replacedBlock(before, after, 3);
      if (block !== undefined) expect(sizes(block)).toEqual(sizes(compared(before, after)));
    }),
  );
});

test('lines that stay between changed ones are left to the comparison', () => {
  expect(replacedBlock('a\nkept\nb\n', 'x\nkept\ny\n', 3)).toBeUndefined();
});

function compared(before: string, after: string): string[] {
  const patch = createTwoFilesPatch('', '', before, after, '', '', { context: 3 });
  return patch.slice(patch.indexOf('@@ ')).split('\n').slice(0, -1);
}

function sizes(hunk: readonly string[]): number[] {
  return ['-', '+'].map((mark) => hunk.filter((line) => line.startsWith(mark)).length);
}
