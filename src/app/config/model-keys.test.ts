import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { readModelKeys } from './model-keys.ts';

const module = new URL('./model-keys.ts', import.meta.url).href;
const PROGRAM = `
  const { saveModelKey } = await import(process.env.MODULE);
  for (let number = 0; number < 20; number++) {
    const saved = await saveModelKey(process.env.FILE, 'https://' + process.env.NAME + number + '.example', 'k');
    if (!saved.ok) throw new Error(saved.error.message);
  }`;

test('processes that save keys at once lose none', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'credentials.json');
  const args = ['--import', 'tsx', '--input-type=module', '-e', PROGRAM];
  const saveTwenty = (NAME: string) =>
    promisify(execFile)(process.execPath, args, { env: { ...process.env, MODULE: module, FILE: path, NAME } });
  await Promise.all([saveTwenty('a'), saveTwenty('b')]);
  const { keys, problems } = await readModelKeys(path);
  expect(problems).toEqual([]);
  expect(Object.keys(keys)).toHaveLength(40);
  const beside = readdirSync(folder).filter((name) => name !== 'credentials.json');
  expect(beside).toEqual(['credentials.json.lock']);
  expect(statSync(join(folder, 'credentials.json.lock'))).toMatchObject({ size: 0 });
});
