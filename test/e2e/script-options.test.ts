import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';

describe.each([
  ['scripts/attacks.ts', '--category, --file, --id, --json'],
  ['scripts/conformance.ts', '--json, --results'],
  ['scripts/house-rules.ts', '--init, --shrink'],
  ['bench/main.ts', '--json, --write'],
])('%s', (script, known) => {
  test('tells an unknown option in one line, with those it knows', () => {
    const args = ['--import', 'tsx', script, '--nope'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([status, stdout, stderr]).toEqual([2, '', `✗ Unknown option '--nope'. Known: ${known}.\n`]);
  }, 60_000);
});
