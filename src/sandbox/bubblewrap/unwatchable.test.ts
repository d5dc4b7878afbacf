import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { processesTagged } from '../../testing/sandbox-contract.ts';
import { trySandbox, withAndWithoutGroups } from '../../testing/try-sandbox.ts';

/** Programs that make it hard to see what they do. An ordinary user sees less of them than root. */

const path = process.env['PATH'] ?? '';
const MB = 1024 * 1024;
/** Longer than a busy machine needs to notice a limit. */
const PATIENCE_MS = 100_000;
vi.setConfig({ testTimeout: 2 * PATIENCE_MS });
const variants = withAndWithoutGroups(path);
afterAll(async () => {
  for (const at of Object.values(variants)) await at[Symbol.asyncDispose]();
});

/** Nobody but root may look into a process whose program nobody may read, or that asked for it. */
const HIDE = 'import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)';

describe.each(Object.entries(variants))('%s', (_name, at) => {
  test('a run whose processes hide, change and vanish while they are watched keeps its result', async () => {
    const code = `
import os, time
end = time.time() + 1.5
living = 0
while time.time() < end:
  living += 1
  if os.fork() == 0:
    f = open('open-%d' % os.getpid(), 'w'); os.unlink(f.name); f.write('x')
    ${HIDE}
    if os.getpid() % 3 == 0: os.execv('./unreadable', ['unreadable', '0.02'])
    time.sleep(0.01); os._exit(0)
  while living > 0 and os.waitpid(-1, 0 if living > 40 else os.WNOHANG)[0]: living -= 1
print('done')`;
    const script = 'cp "$(command -v sleep)" unreadable; chmod 111 unreadable; exec python3 -';
    const { exitCode, stdout, endedBy } = await at.sh(script, { stdin: code });
    expect([endedBy, exitCode, stdout]).toEqual([null, 0, 'done\n']);
  });

  test('[E09] memory in files of a process that hides counts', async () => {
    const code = `import os, time; ${HIDE}
f = os.memfd_create('x')
for i in range(400): os.write(f, bytes(1024 * 1024))
time.sleep(120)`;
    const { endedBy } = await at.sh('', {
      command: ['python3', '-c', code],
      limits: { memoryBytes: 200 * MB, timeMs: PATIENCE_MS },
    });
    expect(endedBy).toBe('memory');
  });

  test('[E09] what a process that hides writes where nobody may look counts', async () => {
    const code = `import os, time; ${HIDE}
os.mkdir('closed')
for i in range(100):
  with open('closed/%d' % i, 'wb') as f: f.write(bytes(5 * 1024 * 1024)); f.flush(); os.fsync(f.fileno())
os.chmod('closed', 0)
time.sleep(120)`;
    const { endedBy } = await at.sh('', {
      command: ['python3', '-c', code],
      limits: { writeBytes: 60 * MB, timeMs: PATIENCE_MS },
    });
    removeClosed(at.workspace);
    expect(endedBy).toBe('write');
  });

  test('[E09] memory that belongs to no process is given out in small pieces', async () => {
    const code = `import ctypes
l = ctypes.CDLL(None)
print([l.shmget(0, ctypes.c_size_t(size), 0o1600) >= 0 for size in (56, 65536, 65537, 1 << 30, (1 << 32) + 56)])`;
    const { stdout } = await at.sh('', { command: ['python3', '-c', code] });
    expect(stdout).toBe('[True, True, False, False, False]\n');
  });

  test('[E09] threads count as processes do', async () => {
    const code = `import threading, time; threading.stack_size(256 * 1024)
for i in range(300): threading.Thread(target=time.sleep, args=(25,), daemon=True).start()
time.sleep(25)`;
    const run = (processes: number) =>
      at.sh('', {
        command: ['python3', '-c', code],
        tag: 'threads',
        limits: { processes, timeMs: 4_000, graceMs: 200 },
      });
    const { endedBy, stderr } = await run(100);
    expect(endedBy === 'processes' || stderr.includes("can't start new thread")).toBe(true);
    expect((await run(400)).endedBy).toBe('time');
    expect(processesTagged('threads')).toEqual([]);
  });
});

/** By its new name where it was put aside, as nobody but root can look into it. */
function removeClosed(workspace: string): void {
  for (const name of readdirSync(workspace).filter((each) => each.startsWith('closed'))) {
    chmodSync(join(workspace, name), 0o755);
    rmSync(join(workspace, name), { recursive: true });
  }
}

test('a folder for its files that is missing is an answer, with what to do', async () => {
  await using at = trySandbox({ path, stateDir: '/nonexistent/state' });
  const request = { command: ['true'], workspace: at.workspace, mounts: 'read', tag: 't' } as const;
  const result = await at.sandbox.run(request);
  expect(result).toMatchObject({ ok: false, error: { code: 'SANDBOX_UNAVAILABLE' } });
  expect(result.ok || result.error.message).toContain('Check that the state folder exists');
});
