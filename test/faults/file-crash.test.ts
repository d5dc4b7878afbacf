import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { crashOnce } from './crash.ts';

test('a process killed in the middle of writes, edits, moves and patches leaves no torn file and nothing behind', async () => {
  const top = mkdtempSync(join(tmpdir(), 'toolwright-crash-'));
  const lane = async (name: string) => {
    const wrong: string[] = [];
    for (let round = 0; round < 25; round++)
      wrong.push(...(await crashOnce(join(top, name), 1 + ((round * 7919) % 83))));
    return wrong;
  };
  const wrong = (await Promise.all([lane('a'), lane('b')])).flat();
  rmSync(top, { recursive: true, force: true });
  expect(wrong).toEqual([]);
}, 180_000);
