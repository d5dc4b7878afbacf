import { expect, test } from 'vitest';
import { redactText } from './redact.ts';
import { TOKENS } from './token-shapes.ts';

const hidden = (text: string) => text.replace(new RegExp(TOKENS.join('|'), 'g'), '[hidden]');

test.each([
  'sk-ant-api03-abcdefghijklmnop',
  'sk-proj-abc_def-ghi-jkl-mno-pqr-stu-1',
  `sk-${'a'.repeat(300)}1`,
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_ghi',
  `eyJ${'a-b_c'.repeat(12)}${'d'.repeat(4000)}.eyJzdWIiOiIxMjM0In0.`,
])('%s is hidden', (token) => {
  expect(hidden(`a ${token} b`)).toBe('a [hidden] b');
  expect(redactText(`a ${token} b`)).toBe('a [redacted] b');
});

test.each(['pk_user_accounts_and_more', 'eyJshort.eyJshort.x', 'eyJhbGciOiJIUzI1NiJ9.short.x'])(
  '%s is none',
  (name) => {
    expect(hidden(name)).toBe(name);
  },
);

test.each([
  ['keys without a digit', 'sk-'.repeat(300_000)],
  ['headers without a dot', 'eyJ-'.repeat(200_000)],
  ['headers before a long body', `${'eyJ-'.repeat(1_000)}.${'a'.repeat(1_000_000)}`],
])('%s take no longer than their length asks for', (_what, text) => {
  const started = performance.now();
  expect(hidden(text)).toBe(text);
  redactText(text);
  expect(performance.now() - started).toBeLessThan(3_000);
});
