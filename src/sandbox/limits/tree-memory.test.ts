import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { samplesOf } from '../../host/proc.ts';
import { createTreeMemory } from './tree-memory.ts';
import { memoryDevices } from './unlinked-files.ts';

const MB = 1024 * 1024;

test('what other programs take does not count as what waits in sockets', async () => {
  const memory = createTreeMemory();
  const sockets = await python('import socket; kept = [socket.socketpair() for _ in range(200)]');
  const look = () => memory.of(samplesOf([sockets.pid ?? 0]), 10_000 * MB);
  const before = look();
  const stranger = await python('kept = bytearray(b"x" * (300 << 20))');
  const looks: number[] = [];
  for (let at = 0; at < 8; at++) {
    looks.push(look());
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const each of [sockets, stranger]) {
    each.stdin?.end();
    await once(each, 'exit');
  }
  expect(Math.max(...looks) - before).toBeLessThan(150 * MB);
});

test('file systems in memory are told by their devices', () => {
  const mountinfo = [
    '25 1 0:23 / /dev/shm rw shared:3 - tmpfs tmpfs rw',
    '30 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
    '31 1 0:300 / /tmp rw - tmpfs tmpfs rw',
    '',
  ].join('\n');
  expect([...memoryDevices(mountinfo)]).toEqual(['00:17', '00:12c']);
});

/** Runs until its input ends. */
async function python(code: string): Promise<ChildProcess> {
  const child = spawn('python3', ['-c', `${code}\nimport sys; print('there', flush=True); sys.stdin.read()`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}
