import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { killRounds } from './server-kill.ts';

test('a server killed at any moment loses nothing it acknowledged and runs nothing that waits for a person', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'killed-'));
  try {
    const report = await killRounds(folder, 20);
    expect(report).toMatchObject({ lost: [], ranUnasked: [], problems: [], asked: 20 });
    expect(report.acknowledged).toBeGreaterThan(20);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
