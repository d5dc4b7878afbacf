import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryFolders, pidsWithEnvironment, sharedMemoryOfMachine } from './proc.ts';

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

test('an environment that a process has stretched without end is not read to its end', async () => {
  const code = `
import ctypes, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = libc.sbrk.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
size = 1 << 36
at = libc.mmap(None, size, 1, 0x4022, -1, 0)
field = ('  ' + open('/proc/self/stat').read().rpartition(')')[2]).split(' ')
number = lambda i: int(field[i])
place = [number(i) for i in (26, 27, 45, 46, 47)] + [libc.sbrk(0), number(28), number(48), number(49), at, at + size]
class Map(ctypes.Structure): _fields_ = [('at', ctypes.c_uint64 * 13)]
PR_SET_MM, PR_SET_MM_MAP = 35, 14
stretch = Map((ctypes.c_uint64 * 13)(*place, 0, 0xffffffff << 32))
print(libc.prctl(PR_SET_MM, PR_SET_MM_MAP, ctypes.byref(stretch), ctypes.sizeof(stretch), 0), flush=True)
sys.stdin.read()`;
  const child = spawn('python3', ['-c', code], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [told] = await once(child.stdout, 'data');
  const before = process.resourceUsage().maxRSS;
  const found = pidsWithEnvironment('NOBODY_HAS_THIS=1');
  const grownBytes = 1024 * (process.resourceUsage().maxRSS - before);
  child.stdin.end();
  await once(child, 'exit');
  expect([Number(told), found]).toEqual([0, []]);
  expect(grownBytes).toBeLessThan(256 * MB);
});
