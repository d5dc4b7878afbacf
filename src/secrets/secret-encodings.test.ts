import { expect, test } from 'vitest';
import { decodedForms, encodedForms, halvesOf } from './secret-encodings.ts';

const VALUE = 's3cr3t+Value/42?';
const carries = (text: string) =>
  encodedForms(VALUE).some((each) => decodedForms(text).some((one) => one.includes(each)));
const base64 = (text: string) => Buffer.from(text).toString('base64');
const escaped = (text: string) =>
  [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

test.each<[string, string]>([
  ['as it is', `a=${VALUE}&b`],
  ['in capitals', VALUE.toUpperCase()],
  ['percent-encoded', encodeURIComponent(VALUE)],
  ['percent-encoded twice', encodeURIComponent(encodeURIComponent(VALUE))],
  ['percent-encoded beside a stray sign', `100%&k=${encodeURIComponent(VALUE)}&%zz`],
  ['with breaks that a URL drops', `http://pub.test/${VALUE.slice(0, 4)}\n\t${VALUE.slice(4)}`],
  ['in base64', base64(VALUE)],
  ['in base64 after one byte', base64(`x${VALUE}yz`)],
  ['in base64 after two bytes', base64(`xy${VALUE}z`)],
  ['in base64 after a name', base64(`user:${VALUE}`)],
  ['in base64 for URLs', Buffer.from(`u:${VALUE}`).toString('base64url')],
  ['in hex', Buffer.from(VALUE).toString('hex')],
  [
    'in hex with colons',
    Buffer.from(VALUE)
      .toString('hex')
      .replace(/..(?=.)/g, '$&:'),
  ],
  ['in base64 twice', base64(base64(VALUE))],
  ['in base64 twice after a name', base64(`x=${base64(VALUE)}`)],
  ['in base32', 'OMZWG4RTOQVVMYLMOVSS6NBSH4======'],
  ['backwards', [...VALUE].reverse().join('')],
  ['in escapes of JSON', `{"k":"${escaped(VALUE)}"}`],
  ['with one escape of JSON', VALUE.replace('/', '\\/')],
  ['in escapes that are percent-encoded', encodeURIComponent(escaped(VALUE))],
])('a value is noticed %s', (_how, text) => {
  expect(carries(text)).toBe(true);
});

test('another value is not taken for it', () => {
  for (const text of ['', 's3cr3t', base64('another value of the same kind'), '%%%', '\\u00']) {
    expect(carries(text)).toBe(false);
  }
});

test('a long value has two halves, and a short one none that would tell it from others', () => {
  expect(halvesOf('0123456789abcdefghijklmno')).toEqual(['0123456789ab', 'cdefghijklmno']);
  expect(halvesOf('0123456789abcdefghijklm')).toEqual([]);
});
