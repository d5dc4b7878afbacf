import { expect, test } from 'vitest';
import { digestOf } from '../../host/file-version.ts';
import { encodeText } from './decode-text.ts';
import { ContentCache } from './file-content.ts';

test('the same bytes, read again, are known; other bytes of the same length are not', () => {
  const contents = new ContentCache();
  const first = contents.of(Buffer.from('one\n'));
  expect(contents.of(Buffer.from('one\n'))).toBe(first);
  const second = contents.of(Buffer.from('two\n'));
  expect(second).not.toBe(first);
  expect([second.digest, second.text?.text]).toEqual([digestOf(Buffer.from('two\n')), 'two\n']);
});

test('half a character cannot be written as UTF-8; whole ones of every kind can', () => {
  const form = { encoding: 'utf-8', bom: false };
  expect(encodeText('a\ud83d', form)).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } });
  expect(encodeText('\udc00b', form)).toMatchObject({ ok: false });
  const text = '\ufeffaé中😀\0\ufffd\n';
  const bytes = encodeText(text, form);
  expect(bytes.ok && bytes.value.toString('utf8')).toBe(text);
});
