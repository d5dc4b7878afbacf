import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { storableText, storedName } from './stored-name.ts';

const nameOf = (name: string) => storedName(name, (text) => hash('sha256', text, 'hex'));

test('text that a database cannot hold is replaced, other text is not', () => {
  expect(storableText('a\0b\ud800c😀')).toBe('a\ufffdb\ufffdc😀');
});

test('an ordinary name is kept as it is', () => {
  for (const name of ['', 's1', 'päth 😀', 'x'.repeat(256)]) expect(nameOf(name)).toBe(name);
});

test('names that cannot be kept become short storable ones, each its own', () => {
  const long = 'x'.repeat(10_000);
  const names = [long, `${long}y`, 'a\0', 'a\ufffd', 'a\ud800', 'a\udc00', `${'x'.repeat(159)}😀${long}`];
  const kept = names.map(nameOf);
  expect(new Set(kept).size).toBe(names.length);
  for (const name of kept) {
    expect(name.length).toBeLessThanOrEqual(256);
    expect(storableText(name)).toBe(name);
  }
});
