import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeTree } from '../../host/remove-tree.ts';
import { scriptWords } from './script-words.ts';

test.each([
  ["import { one } from './one.mjs'; console.log(one, await Promise.resolve(2), process.argv[1])", '1 2 a\n', 0],
  ["await Promise.reject(new Error('late'))", '', 1],
  ["import('./one.mjs').then(({ one }) => console.log(one))", '1\n', 0],
])('JavaScript with the syntax of a module runs as one, from the current folder: %s', (script, stdout, status) => {
  const folder = mkdtempSync(join(tmpdir(), 'script-words-'));
  writeFileSync(join(folder, 'one.mjs'), 'export const one = 1;\n');
  writeFileSync(join(folder, 'text'), script);
  const words = scriptWords({ language: 'javascript', script, args: ['a'] }, join(folder, 'text'));
  const ran = spawnSync(process.execPath, words.slice(1), { cwd: folder, encoding: 'utf8' });
  expect(ran).toMatchObject({ stdout, status });
  removeTree(folder);
});
