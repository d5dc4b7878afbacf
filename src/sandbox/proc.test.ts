import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryFolders, sharedMemoryOfMachine } from './proc.ts';

const MB = 1024 * 1024;

test('what another program puts into shared memory under a name is not taken for memory of a run', () => {
  const folder = mkdtempSync('/dev/shm/proc-test-');
  try {
    const before = sharedMemoryOfMachine();
    writeFileSync(join(folder, 'segment'), Buffer.alloc(256 * MB, 1));
    expect(sharedMemoryOfMachine() - before).toBeLessThan(192 * MB);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('each file system in memory is looked at once, where it can be seen', () => {
  const mountinfo = [
    '25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=1k',
    '27 27 8:1 / / rw shared:1 - ext4 /dev/sda1 rw',
    '30 25 0:27 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=1k',
    '31 27 0:28 / /a\\040b rw shared:2 master:1 - tmpfs tmpfs rw',
    '32 27 0:28 /x /again rw - tmpfs tmpfs rw',
  ].join('\n');
  expect(memoryFolders(mountinfo)).toEqual(['/dev/shm', '/again']);
});
