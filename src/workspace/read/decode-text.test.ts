import { expect, test } from 'vitest';
import { encodeText } from './decode-text.ts';

test('half a character cannot be written as UTF-8; whole ones of every kind can', () => {
  const form = { encoding: 'utf-8', bom: false };
  expect(encodeText('a\ud83d', form)).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } });
  expect(encodeText('\udc00b', form)).toMatchObject({ ok: false });
  const text = '\ufeffaé中😀\0\ufffd\n';
  const bytes = encodeText(text, form);
  expect(bytes.ok && bytes.value.toString('utf8')).toBe(text);
});
