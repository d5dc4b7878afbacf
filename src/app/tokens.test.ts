import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashToken } from '../http/credentials.ts';
import { addToken, openTokens, type Tokens } from './tokens.ts';

let folder: string;
let tokens: Tokens;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tokens-'));
  const opened = openTokens(folder);
  if (!opened.ok) throw new Error(opened.error.message);
  tokens = opened.value;
});
afterEach(() => rmSync(folder, { recursive: true }));

function added(name: string): string {
  const token = addToken(folder, { name, role: 'viewer', sessions: null });
  if (!token.ok) throw new Error(token.error.message);
  return hashToken(token.value);
}

test('a token counts as soon as it is added, and a moment after another process took it away no more', async () => {
  const [own, first] = [hashToken(tokens.own), added('first')];
  expect(tokens.find(first)?.name).toBe('first');
  const second = added('second');
  expect(tokens.find(second)?.name).toBe('second');
  const path = join(folder, 'tokens.json');
  writeFileSync(path, JSON.stringify(JSON.parse(readFileSync(path, 'utf8')).slice(1)));
  await delay(60);
  expect([first, second, own].map((hash) => tokens.find(hash)?.name)).toEqual([undefined, 'second', 'owner']);
});

test('a token that this process replaces counts no more at once', async () => {
  const before = hashToken(tokens.own);
  expect(tokens.find(before)?.name).toBe('owner');
  await tokens.rotate();
  expect([before, hashToken(tokens.own)].map((hash) => tokens.find(hash)?.name)).toEqual([undefined, 'owner']);
});
