import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('SQLite is loaded without a word on stderr, and other warnings are shown', () => {
  const driver = JSON.stringify(new URL('driver.ts', import.meta.url).href);
  const source = `
    process.emitWarning('one before');
    const { openDatabase } = await import(${driver});
    console.log(JSON.stringify(openDatabase(':memory:').prepare('SELECT 1 AS one').get()));
    process.emitWarning('one after');
  `;
  const tsx = fileURLToPath(import.meta.resolve('tsx'));
  const args = ['--import', tsx, '--input-type=module', '-e', source];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stdout).toBe('{"one":1}\n');
  const shown = [...stderr.matchAll(/Warning: (.*)/g)].map(([, text]) => text);
  expect(shown).toEqual(['one before', 'one after']);
});
