import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { descendants, isDead } from '../../host/proc.ts';
import { withAndWithoutGroups } from '../../testing/try-sandbox.ts';
import { createUnlinkedFileScan, findUnlinkedFiles } from './unlinked-files.ts';

/** Memory and disk that are in nobody's figures and under no name. */

const path = process.env['PATH'] ?? '';
const MB = 1024 * 1024;
/** Longer than a busy machine needs to notice a limit. */
const PATIENCE_MS = 100_000;
vi.setConfig({ testTimeout: 2 * PATIENCE_MS });
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

/** Several processes do it, each in a thread that outlives the first one. */
const IN_SECOND_THREADS = `
import ctypes, os, threading, time
def second():
  kept = [hold() for i in range(2)]
  time.sleep(120)
for i in range(3):
  if os.fork() == 0:
    threading.Thread(target=second).start()
    ctypes.CDLL(None).syscall(93 if os.uname().machine == 'aarch64' else 60, 0)
time.sleep(120)`;

/** As long as no path may be that is asked for, and gone again. */
const DEEP = `
import os
def deep(make):
  start, name = os.getcwd(), 'd' * 250
  for i in range(20): os.mkdir(name); os.chdir(name)
  made = make()
  for i in range(20): os.chdir('..'); os.rmdir(name)
  assert os.getcwd() == start
  return made
def nameless():
  f = os.open('held', os.O_CREAT | os.O_RDWR); os.unlink('held'); return f
`;

describe.each(Object.entries(variants))('[E09] %s', (_name, at) => {
  test.each(['keep', 'send'])('room of deleted files counts where they are only mapped or sent: %s', async (hold) => {
    const code = `${SEND}
for i in range(30):
  f = os.open('held', os.O_CREAT | os.O_RDWR); os.posix_fallocate(f, 0, 20 << 20); os.unlink('held'); ${hold}(f)
  time.sleep(0.05)
time.sleep(120)`;
    const limits = { writeBytes: 60 * MB, timeMs: PATIENCE_MS };
    expect((await at.sh('', { command: ['python3', '-c', code], limits })).endedBy).toBe('write');
  });

  test.each(['keep', 'send'])('files in memory count where they are only mapped or sent: %s', async (hold) => {
    const code = `${SEND}
for i in range(8):
  f = os.memfd_create('x'); os.posix_fallocate(f, 0, 50 << 20); ${hold}(f)
time.sleep(120)`;
    const limits = { memoryBytes: 150 * MB, timeMs: PATIENCE_MS };
    expect((await at.sh('', { command: ['python3', '-c', code], limits })).endedBy).toBe('memory');
  });

  test.each([
    ['memory', 'memory', 'return bytearray(b"x" * (40 << 20))'],
    ['files in memory', 'memory', 'f = os.memfd_create("x"); os.posix_fallocate(f, 0, 40 << 20)'],
    [
      'deleted files',
      'write',
      'name = str(threading.get_native_id()); f = os.open(name, os.O_CREAT | os.O_RDWR); os.unlink(name); os.posix_fallocate(f, 0, 40 << 20)',
    ],
  ])('%s of a process whose first thread has ended count', async (_what, end, hold) => {
    const code = `def hold():\n  ${hold}\n${IN_SECOND_THREADS}`;
    // Where the workspace is in memory, its files are both.
    const memoryBytes = end === 'memory' ? 150 * MB : 2048 * MB;
    const limits = { memoryBytes, writeBytes: 150 * MB, timeMs: PATIENCE_MS };
    expect((await at.sh('', { command: ['python3', '-c', code], limits })).endedBy).toBe(end);
  });

  test('deleted files count also where their path is longer than the system tells', async () => {
    const code = `${DEEP}
import time
files = deep(lambda: [nameless() for i in range(8)])
while True:
  for f in files: os.ftruncate(f, 0); os.posix_fallocate(f, 0, 20 << 20)
  time.sleep(1)`;
    const limits = { writeBytes: 60 * MB, timeMs: PATIENCE_MS };
    expect((await at.sh('', { command: ['python3', '-c', code], limits })).endedBy).toBe('write');
  });

  test('no thread has descriptors of its own, and threads and processes start as ever', async () => {
    const code = `
import ctypes, os, subprocess, threading
libc = ctypes.CDLL(None, use_errno=True)
def told(result): print(result, ctypes.get_errno())
def second(): told(libc.unshare(0x400)); told(libc.syscall(436, 900, 999, 2)); told(libc.syscall(436, 900, 999, 0) + ctypes.set_errno(0))
t = threading.Thread(target=second); t.start(); t.join()
os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)
print(subprocess.run(['echo', 'started'], capture_output=True, text=True).stdout, end='')`;
    const { stdout } = await at.sh('', { command: ['python3', '-c', code] });
    expect(stdout.split('\n')).toEqual(['-1 1', '-1 1', '1 0', 'started', '']);
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
time.sleep(120)`;
    const limits = { memoryBytes: 150 * MB, timeMs: PATIENCE_MS };
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
time.sleep(120)`;
    const limits = { memoryBytes: 150 * MB, timeMs: PATIENCE_MS };
    expect((await at.sh('', { command: ['python3', '-c', code], limits })).endedBy).toBe('memory');
  });
});

test('a look at more descriptors than there is time for ends, and says that there may be more', async () => {
  await using child = await python("import os\nfor i in range(900): os.open('/dev/null', 0)");
  const { pid } = child;
  expect(findUnlinkedFiles([pid])).toMatchObject({ files: [], unseen: { inMemory: 0, onDisk: false } });
  const before = process.cpuUsage();
  expect(findUnlinkedFiles(Array(1_000).fill(pid)).unseen).toEqual({
    inMemory: Number.POSITIVE_INFINITY,
    onDisk: true,
  });
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
  const holding = createUnlinkedFileScan();
  const first = holding(Array(1_000).fill(pid));
  expect(holding([pid])).toBe(first);
});

test.each([
  [40, 'as large as they are'],
  [30_000, 'of any size'],
])('mappings with endless names: %i of them are %s', async (count, size) => {
  await using child = await python(`${DEEP}
import ctypes, tempfile
libc = ctypes.CDLL(None)
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
folder = tempfile.mkdtemp(); os.chdir(folder)
f = deep(nameless); os.rmdir(folder)
os.posix_fallocate(f, 0, 4096)
for i in range(${count}): libc.mmap(None, 4096, 1, 1, f, 0)
os.close(f)`);
  const before = process.resourceUsage().maxRSS;
  const { inMemory } = findUnlinkedFiles([child.pid]).unseen;
  if (size === 'of any size') expect(inMemory).toBe(Number.POSITIVE_INFINITY);
  else expect(inMemory).toBeLessThanOrEqual(count * 4096);
  expect(1024 * (process.resourceUsage().maxRSS - before)).toBeLessThan(100 * MB);
});

test('a process that is dead and not yet waited for holds nothing', async () => {
  await using child = await python('import os, time\nif os.fork() == 0: os._exit(0)\ntime.sleep(0.2)');
  const dead = descendants(child.pid);
  expect(dead.map(isDead)).toEqual([true]);
  expect(findUnlinkedFiles(dead)).toMatchObject({ files: [], unseen: { inMemory: 0, onDisk: false } });
});

test('a deleted program is held by its process, also for whoever may not look behind mappings', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'held-files-'));
  const program = join(folder, 'program');
  copyFileSync('/bin/sleep', program);
  const child = spawn(program, ['60'], { stdio: 'ignore' });
  await once(child, 'spawn');
  rmSync(folder, { recursive: true });
  const { files } = findUnlinkedFiles([child.pid ?? 0]);
  child.kill();
  expect(files).toEqual([expect.objectContaining({ inMemory: false, isOpen: false })]);
});

/** Runs until it is disposed of. */
async function python(code: string): Promise<AsyncDisposable & { readonly pid: number }> {
  const child = spawn('python3', ['-c', `${code}\nimport sys; print('there', flush=True); sys.stdin.read()`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
