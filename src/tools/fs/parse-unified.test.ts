import { expect, test } from 'vitest';
import { parseUnified } from './parse-unified.ts';

test('a name ends at its first tab, and many tabs take no longer than their length asks for', () => {
  const started = performance.now();
  const hunk = ['@@ -1 +1 @@', '-a', '+b'];
  for (const after of ['', '\t2026-01-01 00:00:00', `${'\t'.repeat(500_000)}\u2028x`]) {
    const parsed = parseUnified([`--- a/my file.txt${after}`, `+++ b/my file.txt${after}`, ...hunk]);
    expect(parsed).toMatchObject({ ok: true, value: [{ kind: 'update', path: 'my file.txt', moveTo: null }] });
  }
  expect(performance.now() - started).toBeLessThan(3_000);
});
