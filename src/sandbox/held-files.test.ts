import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, describe, expect, test } from 'vitest';
import { withAndWithoutGroups } from '../testing/try-sandbox.ts';
import { createHolding, heldBy } from './held-files.ts';

/** Memory and disk that are in nobody's figures and under no name. */

const path = process.env['PATH'] ?? '';
const MB = 1024 * 1024;
const variants = withAndWithoutGroups(path);
afterAll(async () => {
  for (const at of Object.values(variants)) await at[Symbol.asyncDispose]();
});

const SEND = `
import array, os, mmap, socket, time
a, b = socket.socketpair()
def send(f): a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [f]))]); os.close(f)
def keep(f): kept.append(mmap.mmap(f, 4096, mmap.MAP_SHARED, mmap.PROT_READ)); os.closerange(max(a.fileno(), b.fileno()) + 1, 64)
kept = []
`;

describe.each(Object.entries(variants))('[E09] %s', (_name, at) => {
  test.each(['keep', 'send'])('room of deleted files counts where they are only mapped or sent: %s', async (hold) => {
    const code = `${SEND}
for i in range(8):
  f = os.open('held', os.O_CREAT | os.O_RDWR); os.posix_fallocate(f, 0, 20 << 20); os.unlink('held'); ${hold}(f)
time.sleep(15)`;
    const limits = { writeBytes: 60 * MB, timeMs: 20_000 };
    expect((await at.sh('', { command: ['python3', '-c', code], limits })).endedBy).toBe('write');
  });

  test.each(['keep', 'send'])('files in memory count where they are only mapped or sent: %s', async (hold) => {
    const code = `${SEND}
for i in range(8):
  f = os.memfd_create('x'); os.posix_fallocate(f, 0, 50 << 20); ${hold}(f)
time.sleep(15)`;
    const limits = { memoryBytes: 150 * MB, timeMs: 20_000 };
    expect((await at.sh('', { command: ['python3', '-c', code], limits })).endedBy).toBe('memory');
  });

  test('the tables of a large mapping that is hardly used count as memory', async () => {
    const code = `
import ctypes, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
size = 1 << 38
at = libc.mmap(None, size, 1, 0x4022, -1, 0)
libc.madvise(at, size, 15)
for offset in range(0, size, 2 << 20): ctypes.c_char.from_address(at + offset).value
time.sleep(15)`;
    const limits = { memoryBytes: 150 * MB, timeMs: 30_000 };
    expect((await at.sh('', { command: ['python3', '-c', code], limits })).endedBy).toBe('memory');
  });

  test('what waits in sockets counts as memory', async () => {
    const code = `
import socket, time
kept = []
for i in range(1000):
  for s in socket.socketpair():
    kept.append(s); s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20); s.setblocking(False)
  for s in kept[-2:]:
    try:
      while True: s.send(bytes(32768))
    except BlockingIOError: pass
time.sleep(15)`;
    const limits = { memoryBytes: 150 * MB, timeMs: 30_000 };
    expect((await at.sh('', { command: ['python3', '-c', code], limits })).endedBy).toBe('memory');
  });
});

test('a look at more descriptors than there is time for ends, and says that there may be more', async () => {
  const code =
    "import os, sys\nfor i in range(900): os.open('/dev/null', 0)\nprint('open', flush=True); sys.stdin.read()";
  const child = spawn('python3', ['-c', code], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const pid = child.pid ?? 0;
  try {
    expect(heldBy([pid])).toMatchObject({ files: [], unseen: { inMemory: 0, onDisk: false } });
    const startedAt = performance.now();
    expect(heldBy(Array(1_000).fill(pid)).unseen).toEqual({ inMemory: Number.POSITIVE_INFINITY, onDisk: true });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    const holding = createHolding();
    const first = holding(Array(1_000).fill(pid));
    expect(holding([pid])).toBe(first);
  } finally {
    child.stdin.end();
    await once(child, 'exit');
  }
});
