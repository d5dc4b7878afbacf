import { describe, expect, test } from 'vitest';
import { hideInLogText } from './hide-in-logs.ts';
import { JWT } from './secret-shapes.ts';
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
  expect(hideInLogText(`a ${token} b`)).toBe('a [redacted] b');
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
  hideInLogText(text);
  expect(performance.now() - started).toBeLessThan(3_000);
});

describe('keys and headers as they are written most plainly', () => {
  const KEY = String.raw`\b(?:sk|pk|rk)[-_](?=(?:[A-Za-z_]*-){0,16}[A-Za-z_]*\d)[A-Za-z0-9_-]{16,}`;
  const HEADER = String.raw`\beyJ(?=[A-Za-z0-9_-]{8})(?:\w*-){0,16}\w*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`;
  const rest = TOKENS.filter((shape) => shape !== JWT && !shape.includes('sk|pk|rk'));
  const plainly = new RegExp([...rest, KEY, HEADER].join('|'), 'g');
  const ours = new RegExp(TOKENS.join('|'), 'g');

  const KEYS = ['sk-', 'pk_', 'xrk-', '-', '_', 'a', 'abc', '1', '12345678', ' ', 'é', 'a'.repeat(16)];
  const HEADERS = ['eyJ', 'eyJabcdefgh', '-', '_', '.', '.', 'a', '1', 'abcdefgh', 'abcd-efgh', ' ', 'é'];
  const MIXED = [...KEYS, ...HEADERS, 'a-'.repeat(15), '-'.repeat(16), 'ghp_', 'xoxb-', '\n', '[redacted]'];

  test.each([
    ['keys', KEYS],
    ['headers', HEADERS],
    ['both', MIXED],
  ])('%s of any pieces are hidden the same', (_what, pieces) => {
    let [seed, found] = [1, 0];
    const next = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    for (let count = 0; count < 20_000; count++) {
      const text = Array.from({ length: 1 + next(25) }, () => pieces[next(pieces.length)]).join('');
      const expected = text.replace(plainly, '[hidden]');
      if (text.replace(ours, '[hidden]') !== expected) expect(text.replace(ours, '[hidden]')).toBe(expected);
      if (expected !== text) found++;
    }
    expect(found).toBeGreaterThan(500);
  });
});
