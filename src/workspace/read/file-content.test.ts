import { expect, test } from 'vitest';
import { digestOf } from '../../host/file-version.ts';
import { FileContent } from './file-content.ts';

test('the same bytes, read again, are known; other bytes of the same length are not', () => {
  const first = FileContent.of(Buffer.from('one\n'));
  expect(FileContent.of(Buffer.from('one\n'), first)).toBe(first);
  const second = FileContent.of(Buffer.from('two\n'), first);
  expect(second).not.toBe(first);
  expect([second.digest, second.text?.text]).toEqual([digestOf(Buffer.from('two\n')), 'two\n']);
});

test('a hash that somebody claims is not taken over', () => {
  const bytes = Buffer.from('one\n');
  expect(FileContent.of(bytes, { bytes, digest: 'claimed' }).digest).toBe(digestOf(bytes));
});
