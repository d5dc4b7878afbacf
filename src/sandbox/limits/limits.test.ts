import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Limits } from '../../kernel/world/sandbox.ts';
import { processesTagged } from '../../testing/sandbox-contract.ts';
import { type SandboxRun, type TrySandbox, trySandbox, withAndWithoutGroups } from '../../testing/try-sandbox.ts';

const path = process.env['PATH'] ?? '';
const MB = 1024 * 1024;
/** Longer than a busy machine needs to notice a limit: a run that ends by its time was not noticed at all. */
const PATIENCE_MS = 100_000;
vi.setConfig({ testTimeout: 2 * PATIENCE_MS });

const variants = withAndWithoutGroups(path);
afterAll(async () => {
  for (const at of Object.values(variants)) await at[Symbol.asyncDispose]();
});

/** Another call goes on while the bomb runs. */
async function besides(at: TrySandbox, bomb: Promise<SandboxRun>): Promise<SandboxRun> {
  const other = await at.sh('echo fine', { mounts: 'read' });
  expect(other.stdout).toBe('fine\n');
  return bomb;
}

describe.each(Object.entries(variants))('[E09] limits %s', (_name, at) => {
  test('[E09] a fork bomb ends, others go on, and nothing is left', async () => {
    const bomb = at.sh(':(){ :|:& };:; wait; sleep 120', {
      tag: 'fork-bomb',
      limits: { processes: 100, timeMs: PATIENCE_MS },
    });
    const { endedBy, endMessage } = await besides(at, bomb);
    expect(endedBy).toBe('processes');
    expect(endMessage).toContain('more than 100 processes');
    expect(processesTagged('fork-bomb')).toEqual([]);
  });

  test('[E09] a memory bomb ends, others go on, and nothing is left', async () => {
    const code = "b=[]\nfor i in range(40): b.append(bytearray(b'x')*(100*1024*1024)); print(i,flush=True)";
    const command = ['python3', '-c', code];
    const { exitCode, endedBy, stdout, stderr } = await besides(
      at,
      at.sh('', { command, tag: 'memory-bomb', limits: { memoryBytes: 512 * MB } }),
    );
    expect(exitCode === null || exitCode !== 0).toBe(true);
    expect(endedBy === 'memory' || stderr.includes('MemoryError')).toBe(true);
    expect(stdout.trim().split('\n').length).toBeLessThan(8);
    expect(processesTagged('memory-bomb')).toEqual([]);
  });

  test('[E09] memory shared out to many processes is counted together', async () => {
    const hog = 'python3 -c "import time; b=bytearray(b\\"x\\")*(60*1024*1024); time.sleep(120)" &';
    const { endedBy } = await at.sh(`${hog.repeat(8)} wait`, {
      limits: { memoryBytes: 300 * MB, timeMs: PATIENCE_MS },
    });
    expect(endedBy).toBe('memory');
  });

  test('[E09] a busy loop ends at its CPU limit, over all its processes', async () => {
    const script = 'for i in 1 2 3 4; do (while :; do :; done) & done; wait';
    const { endedBy, cpuMs } = await at.sh(script, { limits: { cpuMs: 600, timeMs: PATIENCE_MS } });
    expect(endedBy).toBe('cpu');
    expect(cpuMs).toBeLessThan(10_000);
  });

  test('[E09] a writer ends at its limit for all files together', async () => {
    const script = 'for i in $(seq 1 60); do head -c 10000000 /dev/zero > f$i || break; sleep 0.02; done; rm -f f*';
    const { endedBy, endMessage } = await at.sh(script, { limits: { writeBytes: 100 * MB } });
    expect(endedBy).toBe('write');
    expect(endMessage).toContain('100 MB in all');
  });

  test('[E09] room cannot be reserved, and where a program then writes it the limit counts', async () => {
    const limits = { writeBytes: 60 * MB, timeMs: PATIENCE_MS };
    const reserved = await at.sh('fallocate -l 40G r; du -k r', { limits });
    expect([reserved.endedBy, reserved.stdout]).toEqual([null, '0\tr\n']);
    expect(reserved.stderr).toContain('fallocate failed');
    const code = `import os; os.posix_fallocate(os.open('r', os.O_CREAT | os.O_RDWR), 0, 40 << 30)`;
    const written = await at.sh('', { command: ['python3', '-c', code], limits });
    expect(written.endedBy).toBe('write');
  });

  test('[E09] a run ends that makes more files than its limit, however small', async () => {
    const script = 'mkdir many; cd many; for i in $(seq 1 3000); do mkdir d$i; ln -s d$i l$i; : >f$i; done; sleep 120';
    const { endedBy, endMessage } = await at.sh(script, { limits: { newFiles: 2_000, timeMs: PATIENCE_MS } });
    expect(endedBy).toBe('write');
    expect(endMessage).toContain('2000 new files');
  });

  test('[E09] a run that has ended with more changes than its limit says so, and nothing of it can be kept', async () => {
    const script = 'for i in $(seq 1 300); do : >f$i; done';
    const { endedBy, endMessage, staged } = await at.sh(script, { limits: { newFiles: 200, timeMs: PATIENCE_MS } });
    expect([endedBy, staged]).toEqual(['write', null]);
    expect(endMessage).toContain('200 new files');
  });

  test('[E09] new files are counted also beside a large file that is in the stage', async () => {
    at.write('old', 'x'.repeat(20 * MB));
    const script = 'touch old; mkdir many; cd many; for i in $(seq 1 30000); do : >f$i; done; sleep 120';
    const limits = { writeBytes: 30 * MB, newFiles: 2_000, timeMs: PATIENCE_MS };
    const { endedBy } = await at.sh(script, { limits });
    expect(endedBy).toBe('write');
  });

  test('[E09] children that nobody waits for are counted', async () => {
    const code = `
import os, signal, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(40):
  if os.fork() == 0:
    if sys.argv[1] == 'write': open('c%d' % i, 'wb').write(b'x' * 5000000)
    end = time.process_time() + 0.2
    while time.process_time() < end: pass
    time.sleep(0.3)
    os._exit(0)
  time.sleep(0.3)
`;
    const run = (what: string, limits: Partial<Limits>) =>
      at.sh('', { command: ['python3', '-c', code, what], limits });
    const cpu = await run('compute', { cpuMs: 1_500, timeMs: PATIENCE_MS });
    const write = await run('write', { writeBytes: 30 * MB, timeMs: PATIENCE_MS });
    expect([cpu.endedBy, write.endedBy]).toEqual(['cpu', 'write']);
  });

  test('[E09] shared memory and files in memory count as memory', async () => {
    const shared = 'm=mmap.mmap(-1,300*1024*1024)\nfor i in range(0,len(m),4096): m[i]=1';
    const file = 'f=os.memfd_create("x")\nfor i in range(300): os.write(f,bytes(1024*1024))';
    for (const hold of [shared, file]) {
      const command = ['python3', '-c', `import mmap,os,time\n${hold}\ntime.sleep(120)`];
      const { endedBy } = await at.sh('', { command, limits: { memoryBytes: 100 * MB, timeMs: PATIENCE_MS } });
      expect(endedBy).toBe('memory');
    }
  });

  test('[E09] memory that several processes share is counted once', async () => {
    const code = `
import mmap, os, time
m = mmap.mmap(-1, 60 * 1024 * 1024)
for i in range(0, len(m), 4096): m[i] = 1
for i in range(6):
  if os.fork() == 0:
    sum(m[i] for i in range(0, len(m), 4096)); time.sleep(1); os._exit(0)
for i in range(6): os.wait()
`;
    const { endedBy } = await at.sh('', { command: ['python3', '-c', code], limits: { memoryBytes: 200 * MB } });
    expect(endedBy).toBe(null);
  });

  test('[E09] one file ends at its limit', async () => {
    const { endedBy, stdout, staged } = await at.sh('exec head -c 50000000 /dev/zero > big', {
      limits: { fileBytes: 10 * MB },
    });
    expect([endedBy, stdout]).toEqual(['write', '']);
    expect(staged?.changes.map(({ path: changed, after }) => [changed, after?.size])).toEqual([['big', 10 * MB]]);
  });

  test('[E09] /tmp, the home and shared memory are full at their limit', async () => {
    const script = 'for d in /tmp ~ /dev/shm; do head -c 20000000 /dev/zero > $d/big || du -sm $d/big | cut -f1; done';
    const { stdout } = await at.sh(script, { limits: { tmpBytes: 8 * MB } });
    expect(stdout).toBe('8\n8\n8\n');
  });

  test('[E09] open files and core dumps are limited', async () => {
    const { stdout } = await at.sh('ulimit -n; ulimit -c', { limits: { openFiles: 64 } });
    expect(stdout).toBe('64\n0\n');
  });

  test('[E09] a run leaves pending signals to the other processes of its user', async () => {
    const code = `
import ctypes, os, signal
libc = ctypes.CDLL(None)
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
class Value(ctypes.Union): _fields_ = [('i', ctypes.c_int), ('p', ctypes.c_void_p)]
libc.sigqueue.argtypes = [ctypes.c_int, ctypes.c_int, Value]
sent = 0
while sent < 200000 and libc.sigqueue(os.getpid(), 40, Value(1)) == 0: sent += 1
print(sent)`;
    const { stdout } = await at.sh('', { command: ['python3', '-c', code] });
    const own = Number(/^Max pending signals\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]);
    expect(Number(stdout)).toBeGreaterThan(100);
    expect(Number(stdout)).toBeLessThanOrEqual(own / 2);
  });

  test('[E09] what was used is in the result', async () => {
    const command = [
      'python3',
      '-c',
      'import time\nb=bytearray(b"x")*(80*1024*1024)\nwhile time.process_time()<0.6: pass\ntime.sleep(1)',
    ];
    const { cpuMs, peakMemoryBytes, durationMs } = await at.sh('', { command });
    expect(cpuMs).toBeGreaterThan(200);
    expect(peakMemoryBytes).toBeGreaterThan(70 * MB);
    expect(durationMs).toBeGreaterThan(500);
  });
});

test.each(Object.entries(variants))('[E09] a run gives way to everything else, %s', async (_name, at) => {
  const status = await at.sandbox.status();
  const isGrouped = status.ok && status.value.details['processes']?.startsWith('cgroup') === true;
  // Where nothing bounds the processes of root but our watching, to all others.
  const isUnbounded = !isGrouped && process.getuid?.() === 0;
  expect((await at.sh('nice')).stdout).toBe(`${Math.max(getPriority(), isUnbounded ? 19 : 10)}\n`);
});

test('[E09] many busy sessions keep neither us nor the end of a run waiting, where control groups share out the processor', async () => {
  const at = variants['with control groups where they can be made'] as TrySandbox;
  const code = `
import os, time
for i in range(200):
  if os.fork() == 0:
    os.setsid()
    while True: pass
time.sleep(120)`;
  let [worst, last] = [0, performance.now()];
  const ticking = setInterval(() => {
    worst = Math.max(worst, performance.now() - last - 10);
    last = performance.now();
  }, 10);
  const { endedBy } = await at.sh('', { command: ['python3', '-c', code], limits: { timeMs: 3_000, graceMs: 500 } });
  clearInterval(ticking);
  expect(endedBy).toBe('time');
  if (sharesProcessor()) expect(worst).toBeLessThan(10_000);
});

/** Whether a run can be given less of the processor than we have, whatever it does. */
function sharesProcessor(): boolean {
  return process.getuid?.() === 0 && readFileSync('/proc/self/mounts', 'latin1').includes(',cpu');
}

describe('output', () => {
  const at = trySandbox({ path });
  afterAll(() => at[Symbol.asyncDispose]());

  test('[E09] a flood neither fills our memory nor holds up other work', async () => {
    const before = process.memoryUsage().rss;
    let [worst, last] = [0, performance.now()];
    const ticking = setInterval(() => {
      worst = Math.max(worst, performance.now() - last - 10);
      last = performance.now();
    }, 10);
    const { exitCode, stdout } = await at.sh('yes | head -c 300000000');
    clearInterval(ticking);
    expect([exitCode, stdout.length]).toEqual([0, 128 * 1024]);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MB);
    expect(worst).toBeLessThan(10_000);
  });

  test('a grandchild that keeps the pipe open does not hold the result', async () => {
    const { stdout, durationMs } = await at.sh('(setsid sleep 120 &); echo done');
    expect(stdout).toBe('done\n');
    expect(durationMs).toBeLessThan(60_000);
  });

  test('bytes that are no text arrive as they are', async () => {
    const { value } = (await at.sandbox.run({
      command: ['printf', '\\377\\376\\000ok'],
      workspace: at.workspace,
      mounts: 'read',
      tag: 't',
    })) as Extract<Awaited<ReturnType<typeof at.sandbox.run>>, { ok: true }>;
    expect([...value.output.stdout.head]).toEqual([255, 254, 0, 111, 107]);
  });

  test('no zombie of a run is left on the host', async () => {
    await at.sh('', { command: ['python3', '-c', 'import os\nfor i in range(300):\n  if os.fork()==0: os._exit(0)'] });
    const zombies = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isOurZombie(pid));
    expect(zombies).toEqual([]);
  });
});

function isOurZombie(pid: string): boolean {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
    return fields[0] === 'Z' && fields[1] === String(process.pid);
  } catch {
    return false;
  }
}
