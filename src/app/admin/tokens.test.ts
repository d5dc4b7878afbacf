import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashToken } from '../../http/credentials.ts';
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

async function added(name: string): Promise<string> {
  const token = await addToken(folder, { name, role: 'viewer', sessions: null });
  if (!token.ok) throw new Error(token.error.message);
  return hashToken(token.value);
}

test('a token counts as soon as it is added, and a moment after another process took it away no more', async () => {
  const [own, first] = [hashToken(tokens.own), await added('first')];
  expect(tokens.find(first)?.name).toBe('first');
  const second = await added('second');
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

const PROGRAM = `
  const { addToken } = await import(process.env.MODULE);
  for (let number = 0; number < 20; number++) {
    const made = await addToken(process.env.FOLDER, { name: process.env.NAME + number, role: 'viewer', sessions: null });
    if (!made.ok) throw new Error(made.error.message);
  }`;

test('processes that add tokens at once lose none', { timeout: 60_000 }, async () => {
  const args = ['--import', 'tsx', '--input-type=module', '-e', PROGRAM];
  const MODULE = new URL('./tokens.ts', import.meta.url).href;
  const addTwenty = (NAME: string) =>
    promisify(execFile)(process.execPath, args, { env: { ...process.env, MODULE, FOLDER: folder, NAME } });
  await Promise.all([addTwenty('a'), addTwenty('b')]);
  expect(JSON.parse(readFileSync(join(folder, 'tokens.json'), 'utf8'))).toHaveLength(40);
});
