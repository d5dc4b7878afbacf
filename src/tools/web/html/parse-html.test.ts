import { expect, test } from 'vitest';
import { parseHtml } from './parse-html.ts';

test.each(['x', '&#9;', 'x&#9;'])('a value of many %j is cut', async (part) => {
  const values: (string | undefined)[] = [];
  const events = {
    hides: () => false,
    open: (_name: string, { style }: { style?: string }) => void values.push(style),
    text() {},
    close() {},
  };
  await parseHtml(`<p style="${part.repeat(100_000)}">`, events, () => {});
  expect(values.map((value) => value?.length)).toEqual([4096]);
});
