import { expect, test } from 'vitest';
import { EventSizeGuard } from './guarded-request.ts';

const MB = 1024 * 1024;

test.each(['\n', '\r\n', '\r'])('events that end with %j pass, wherever they are cut', (end) => {
  const event = Buffer.from(`data: ${'x'.repeat(MB)}${end}${end}`);
  for (let cut = 0; cut <= 2 * end.length; cut++) {
    const bound = new EventSizeGuard();
    for (let times = 0; times < 12; times++) {
      bound.add(event.subarray(0, event.length - cut));
      bound.add(event.subarray(event.length - cut));
    }
  }
});

test.each([
  ['one line', ['x'.repeat(MB)]],
  ['many lines', [`data: ${'x'.repeat(MB)}\n`]],
  ['lines with ends of two kinds', [`data: ${'x'.repeat(MB)}\n\r`]],
  ['lines cut in the middle of their end', [`data: ${'x'.repeat(MB)}\r`, '\n']],
])('an event of %s without an end is stopped', (_, pieces) => {
  const bound = new EventSizeGuard();
  const flood = () => {
    for (let times = 0; times < 12; times++) for (const piece of pieces) bound.add(Buffer.from(piece));
  };
  expect(flood).toThrow('larger than 8 MB');
});
