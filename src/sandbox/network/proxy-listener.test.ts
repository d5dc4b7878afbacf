import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { LISTENER_PROGRAM } from './network.ts';
import { receiveListener } from './proxy-listener.ts';

const opened: Server[] = [];
afterEach(() => {
  for (const door of opened.splice(0)) door.close();
});

/** The result of a child with a channel as 3. */
async function told(program: string, args: readonly string[]): Promise<{ doors: number; broken: boolean }> {
  const env = { PATH: '/usr/bin:/bin', NODE_CHANNEL_FD: '3' };
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env });
  let broken = false;
  receiveListener(child, {
    onDoor: (door) => opened.push(door),
    onBroken() {
      broken = true;
    },
  });
  await once(child, 'exit');
  await new Promise((resolve) => setTimeout(resolve, 50));
  if (child.connected) child.disconnect();
  return { doors: opened.length, broken };
}

describe('the channel of a run', () => {
  test('brings the door out', async () => {
    const program = LISTENER_PROGRAM.replace('3128', '0');
    expect(await told(process.execPath, ['-e', program])).toEqual({ doors: 1, broken: false });
    expect(opened[0]?.address()).toMatchObject({ address: '127.0.0.1' });
  });

  test.each([
    'not json',
    'null',
    '"door"',
    '{"cmd":"NODE_HANDLE","type":"net.Server","msg":"door"}',
    '{"cmd":"NODE_HANDLE","type":"nothing"}',
    '{"cmd":"NODE_HANDLE_ACK"}',
    '{"cmd":"NODE_HANDLE_NACK"}',
    '{"cmd":"NODE_SOCKET_NOTIFY_CLOSE","key":"x"}',
  ])('that says %s is broken, and nothing is thrown', async (line) => {
    expect(await told('/bin/sh', ['-c', 'echo "$0" >&3', line])).toEqual({ doors: 0, broken: true });
  });

  test('that says more than a door would is broken, without an end of its line', async () => {
    expect(await told('/bin/sh', ['-c', 'head -c 100000 /dev/zero >&3'])).toEqual({ doors: 0, broken: true });
  });

  test.each([
    ['a connection', `const s = net.connect(p); s.on('connect', () => process.send('door', s, end));`],
    [
      'a datagram socket',
      `const s = require('dgram').createSocket('udp4'); s.bind(0, () => process.send('door', s, end));`,
    ],
  ])('that brings %s is broken', async (_what, code) => {
    const program = `const net = require('net'); const end = () => process.exit(0);
      const l = net.createServer().listen(0, '127.0.0.1', () => { const p = l.address().port; ${code} });`;
    expect(await told(process.execPath, ['-e', program])).toEqual({ doors: 0, broken: true });
  });

  test('that brings a connection and calls it a door is broken', async () => {
    const code = `import array,json,os,socket
c = socket.socket(); l = socket.create_server(('127.0.0.1', 0)); c.connect(l.getsockname())
s = socket.socket(fileno=3)
line = json.dumps({'cmd': 'NODE_HANDLE', 'type': 'net.Server', 'msg': 'door'}) + '\\n'
s.sendmsg([line.encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [c.fileno()]))])`;
    expect((await told('python3', ['-c', code])).broken).toBe(true);
  });
});
