import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { trySandbox } from '../../testing/try-sandbox.ts';

const path = process.env['PATH'] ?? '';
const at = trySandbox({ path });
afterAll(() => at[Symbol.asyncDispose]());

describe('[E10] what a run can see and touch', () => {
  test('[E10] the home is not there, and a private one is', async () => {
    mkdirSync(join(at.home, '.ssh'));
    writeFileSync(join(at.home, '.ssh/id_rsa'), 'CANARY-HOME');
    const { stdout } = await at.sh(`cat ${at.home}/.ssh/id_rsa; ls -A ~ | wc -l; touch ~/x && echo writable`);
    expect(stdout).toBe('0\nwritable\n');
  });

  test('[E10] files outside the workspace can be neither read nor written', async () => {
    writeFileSync(join(at.root, 'secret.txt'), 'CANARY-OUT');
    const script = `cat ${at.root}/secret.txt /etc/shadow; echo x > ${at.root}/new; echo x > /etc/new; echo x > /usr/new; echo x > /new`;
    const { stdout } = await at.sh(script);
    expect(stdout).toBe('');
    expect(existsSync(join(at.root, 'new'))).toBe(false);
  });

  test('[E10] nothing of our environment is there, also not through /proc', async () => {
    process.env['ISOLATION_SECRET'] = 'CANARY-ENV';
    const { stdout } = await at.sh('env; cat /proc/*/environ | tr "\\0" "\\n"; ls /proc | grep -c "^[0-9]"');
    delete process.env['ISOLATION_SECRET'];
    expect(stdout).not.toContain('CANARY-ENV');
    expect(Number(stdout.trim().split('\n').at(-1))).toBeLessThan(8);
  });

  test('[E10] a link that leads out leads nowhere', async () => {
    writeFileSync(join(at.root, 'secret.txt'), 'CANARY-OUT');
    const { stdout } = await at.sh(
      `ln -sf ${at.root}/secret.txt out; ln -sf / root; cat out root${at.root}/secret.txt`,
    );
    expect(stdout).toBe('');
  });

  test('[E10] /tmp is private and empty', async () => {
    await at.sh('echo x > /tmp/left-behind');
    // Node itself may have been installed below /tmp.
    const node = dirname(dirname(process.execPath));
    const { stdout } = await at.sh(`find /tmp -type f -not -path "*/ws/*" -not -path "${node}/*"`);
    expect(stdout).toBe('');
    expect(existsSync('/tmp/left-behind')).toBe(false);
  });

  test('variables of a request stand in no command line, which everybody on the machine can read', async () => {
    const env = { TOKEN: 'CANARY-VARIABLE', NODE_AUTH_TOKEN: 'CANARY-NODE', PATH: '/usr/bin:/bin:/nowhere' };
    const { stdout } = await at.sh('echo "$TOKEN $NODE_AUTH_TOKEN $PATH"; cat /proc/[0-9]*/cmdline | tr "\\0" "\\n"', {
      env,
    });
    expect(stdout).toMatch(/^CANARY-VARIABLE CANARY-NODE .*\/nowhere\n/);
    expect(stdout.match(/CANARY/g)).toHaveLength(2);
  });

  test('variables of a request never reach the programs that build the sandbox', async () => {
    const { stdout } = await at.sh('echo "$LD_PRELOAD"', { env: { LD_PRELOAD: '/nowhere.so', BASH_ENV: '/nowhere' } });
    expect(stdout).toContain('/nowhere.so');
  });

  test('a program with = in its name is no variable', async () => {
    at.write('a=b', '#!/bin/sh\necho "$X" "$@"\n');
    chmodSync(join(at.workspace, 'a=b'), 0o755);
    const { stdout } = await at.sh('', { command: ['./a=b', 'c=d', 'e f'], env: { X: 'x y' } });
    expect(stdout).toBe('x y c=d e f\n');
  });
});

test('of an application on the path only its programs and libraries are there', async () => {
  const app = join(at.root, 'app');
  for (const name of ['bin', 'lib']) mkdirSync(join(app, name), { recursive: true });
  writeFileSync(join(app, '.env'), 'CANARY-APP');
  writeFileSync(join(app, 'lib/text'), 'from lib');
  writeFileSync(join(app, 'bin/app-tool'), '#!/bin/sh\ncat "$(dirname "$0")/../lib/text" "$(dirname "$0")/../.env"\n');
  chmodSync(join(app, 'bin/app-tool'), 0o755);
  await using other = trySandbox({ path: `${join(app, 'bin')}:${path}` });
  expect((await other.sh('app-tool')).stdout).toBe('from lib');
});

test('of a folder on the path that is not called bin only its programs are there', async () => {
  const scripts = join(at.root, 'scripts');
  mkdirSync(join(scripts, 'notes'), { recursive: true });
  for (const name of ['.env', 'diary.txt', 'notes/a.txt']) writeFileSync(join(scripts, name), 'CANARY-APP');
  for (const name of ['my-tool', 'deploy.key']) {
    writeFileSync(join(scripts, name), `#!/bin/sh\ncat ${scripts}/.env ${scripts}/*.txt ${scripts}/*/*; echo ran\n`);
    chmodSync(join(scripts, name), 0o755);
  }
  symlinkSync('my-tool', join(scripts, 'my-link'));
  await using other = trySandbox({ path: `${scripts}:${path}` });
  const { stdout } = await other.sh(`my-tool; my-link; ls -A ${scripts}`);
  expect(stdout).toBe('ran\nran\nmy-link\nmy-tool\n');
});

test('of a folder on the path that has too many programs nothing is there, and the status says so', async () => {
  const many = join(at.root, 'many');
  mkdirSync(many);
  for (let i = 0; i < 60; i++) writeFileSync(join(many, `tool-${i}`), '#!/bin/sh\n', { mode: 0o755 });
  await using other = trySandbox({ path: `${many}:${path}` });
  expect((await other.sh('tool-1')).exitCode).toBe(127);
  const status = await other.sandbox.status();
  expect(status.ok && status.value.details['path']).toContain(many);
});

test('secrets beside the programs of a folder called bin are hidden', async () => {
  const bin = join(at.home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, '.env'), 'CANARY-BIN');
  writeFileSync(join(bin, 'home-tool'), `#!/bin/sh\ncat ${bin}/.env; echo ran\n`, { mode: 0o755 });
  await using other = trySandbox({ path: `${bin}:${path}`, home: at.home });
  const { stdout, stderr } = await other.sh('home-tool');
  expect([stdout, stderr]).toEqual(['ran\n', `cat: ${bin}/.env: Permission denied\n`]);
});

test('a workspace that is given by a link is there under both paths', async () => {
  const link = join(at.root, 'link');
  symlinkSync('ws', link);
  writeFileSync(join(at.workspace, 'by-link.txt'), 'there');
  for (const mounts of ['read', 'staged'] as const) {
    const { stdout } = await at.sh(`cat ${link}/by-link.txt; pwd`, { workspace: link, mounts });
    expect(stdout).toBe(`there${at.workspace}\n`);
  }
});

test.each([
  ['commas and colons', 'a,b:c'],
  ['backslashes', 'a\\b\\072c'],
  ['a line break', 'a\nb'],
  ['what looks like an option of an overlay', 'a,upperdir=upper:lowerdir=b'],
])(
  'a workspace whose path has %s is staged like any other, and its mount tells no path of a layer',
  async (_what, name) => {
    const workspace = join(at.root, name);
    mkdirSync(workspace);
    writeFileSync(join(workspace, 'a.txt'), 'old');
    writeFileSync(join(workspace, '.env'), 'CANARY-ENV');
    const below = await at.stage();
    const first = await at.sh('echo new >a.txt; cat .env', { workspace, stage: { folder: below } });
    expect([first.stdout, first.staged?.changes.map((change) => change.path)]).toEqual(['', ['a.txt']]);
    const stage = { folder: await at.stage(), below: [below] };
    const { stdout, staged } = await at.sh(
      'cat a.txt .env; cat /proc/mounts; grep " - overlay " /proc/self/mountinfo; echo x >b.txt',
      { workspace, stage },
    );
    expect(stdout).toContain('new\n');
    expect(stdout).toMatch(/ overlay overlay \S*lowerdir=below0:mask:lower,upperdir=upper,workdir=/);
    for (const secret of ['CANARY', join(at.root, 'state'), below]) expect(stdout).not.toContain(secret);
    expect(staged?.changes.map((change) => change.path)).toEqual(['b.txt']);
    expect(readdirSync(workspace).sort()).toEqual(['.env', 'a.txt']);
  },
);

test('a workspace and a state folder may lie in /var/tmp', async () => {
  await using other = trySandbox({ path, within: '/var/tmp' });
  other.write('there.txt', 'there');
  for (const mounts of ['read', 'staged'] as const) {
    const { stdout } = await other.sh(`cat there.txt ${other.workspace}/there.txt`, { mounts });
    expect(stdout).toBe('therethere');
  }
});

describe('what a run may do', () => {
  test.each(['read', 'staged'] as const)('it can write no setting of the kernel, in mode %s', async (mounts) => {
    const program = `
import os
for top, folders, files in os.walk('/proc'):
    if top == '/proc': folders[:] = [name for name in folders if not name.isdigit()]
    for name in files:
        path = os.path.join(top, name)
        if os.path.islink(path): continue
        try: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK)); print(path)
        except OSError: pass
print('looked')`;
    const { stdout } = await at.sh('python3 -', { mounts, stdin: program });
    expect(stdout).toBe('looked\n');
  });

  test('it has no capabilities, no new privileges, and a seccomp filter', async () => {
    const { stdout } = await at.sh(
      'grep -E "^(CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status | cut -f2 | xargs',
    );
    expect(stdout.trim()).toBe('0000000000000000 0000000000000000 0000000000000000 1 2');
  });

  test.each([
    ['a new user namespace', 'unshare -Ur id'],
    ['a mount', 'mount -t tmpfs none /tmp'],
    ['a device', 'mknod x c 1 5'],
    ['a trace of another process', 'sleep 1 & strace -p $! -e none 2>&1 | grep -q "Operation not permitted" && exit 1'],
    ['a change of the system time', 'date -s 2001-01-01'],
    ['a root of its own', 'chroot / true'],
  ])('it is refused %s', async (_what, script) => {
    expect((await at.sh(script)).exitCode).not.toBe(0);
  });

  test('it makes no file that runs with the rights of its owner or group, by whatever call', async () => {
    const program = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
open('armed', 'w').close()
os.mkdir('unmarked', 0o6755)
tries = {
  'chmod': lambda: os.chmod('armed', 0o4755),
  'fchmod': lambda: os.chmod(os.open('armed', os.O_RDONLY), 0o2755),
  'fchmodat2': lambda: libc.syscall(452, -100, b'armed', 0o4755, 0) and 1 / 0,
  'open': lambda: os.open('made', os.O_CREAT | os.O_WRONLY, 0o4755),
  'tmpfile': lambda: os.open('.', os.O_TMPFILE | os.O_WRONLY, 0o4755),
  'mknod': lambda: os.mknod('made', 0o104755),
  'device': lambda: os.mknod('made', 0o020666, os.makedev(1, 5)),
}
for name, attempt in tries.items():
  try: attempt(); print(name, 'worked')
  except (OSError, ZeroDivisionError): pass
print(oct(os.stat('armed').st_mode), os.path.exists('made'), oct(os.stat('unmarked').st_mode))`;
    const { stdout } = await at.sh('umask 022; python3 -; rm -rf armed unmarked', { stdin: program });
    expect(stdout).toBe('0o100644 False 0o40755\n');
  });

  test('it has descriptors 0, 1 and 2 and no terminal', async () => {
    const { stdout } = await at.sh('ls /proc/self/fd | xargs; tty; true </dev/tty', {
      command: ['bash', '-c', 'ls /proc/$$/fd >/tmp/fds; xargs </tmp/fds; (: </dev/tty) 2>&1'],
    });
    expect(stdout.split('\n')[0]).toMatch(/^0 1 2( 255)?$/);
    expect(stdout).toContain('No such device');
  });

  test('it has few devices, and none of disks', async () => {
    const { stdout } = await at.sh('ls /dev | xargs; ls /sys 2>&1 | head -1');
    expect(stdout.split('\n')[0]).toBe('core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero');
  });

  test('it sees the interpreters on the path', async () => {
    const { stdout } = await at.sh('python3 -c "print(6*7)"; node -p 6*7; git --version | cut -d" " -f1');
    expect(stdout).toBe('42\n42\ngit\n');
  });

  test('it cannot write in mode read', async () => {
    at.write('kept.txt', 'kept');
    const { stdout, exitCode } = await at.sh('cat kept.txt; touch new || rm -f kept.txt || mv kept.txt b', {
      mounts: 'read',
    });
    expect([stdout, exitCode]).toEqual(['kept', 1]);
    expect(readdirSync(at.workspace)).toContain('kept.txt');
  });

  test('it writes to its stage and not to the workspace in mode staged', async () => {
    const { staged } = await at.sh('echo hello > made.txt');
    expect(staged?.changes.map(({ path: changed }) => changed)).toEqual(['made.txt']);
    expect(readFileSync(join(staged?.content ?? '', 'made.txt'), 'utf8')).toBe('hello\n');
    expect(readdirSync(at.workspace)).not.toContain('made.txt');
  });
});

describe('[E08] no network', () => {
  const server = createServer((socket) => socket.end('reached'));
  let [port, reached] = [0, 0];
  beforeAll(async () => {
    server.on('connection', () => reached++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => server.close());

  test('[E08] the loopback of this machine cannot be reached', async () => {
    const { exitCode } = await at.sh(`exec 3<>/dev/tcp/127.0.0.1/${port}`);
    expect([exitCode, reached]).toEqual([1, 0]);
  });

  test('[E08] neither can the outside, and names fail at once', async () => {
    const started = Date.now();
    const { stdout } = await at.sh(
      '(exec 3<>/dev/tcp/192.0.2.1/80) 2>&1; getent hosts example.invalid || echo no name; cat /proc/net/route | wc -l; ls /sys/class/net 2>&1; cut -d: -f1 /proc/net/dev | tail -n +3 | xargs',
    );
    expect(stdout).toContain('unreachable');
    expect(stdout).toContain('no name');
    expect(stdout.trim().split('\n').at(-1)).toBe('lo');
    expect(Date.now() - started).toBeLessThan(5_000);
  });

  test('[E08] no unix socket can be opened, so none of the host either', async () => {
    const listener = createServer(() => reached++);
    await new Promise<void>((resolve) => listener.listen(join(at.workspace, 'agent.sock'), resolve));
    chmodSync(join(at.workspace, 'agent.sock'), 0o777);
    const code =
      "import socket\ntry: socket.socket(socket.AF_UNIX).connect('agent.sock')\nexcept OSError as e: print(e.errno)";
    const { stdout } = await at.sh('', { command: ['python3', '-c', code] });
    listener.close();
    expect([stdout.trim(), reached]).toEqual(['97', 0]);
  });

  test('[E08] two processes can be connected, but not by what also sends to sockets of the host', async () => {
    const code =
      'import socket\nsocket.socketpair()\ntry: socket.socketpair(type=socket.SOCK_DGRAM)\nexcept OSError as e: print(e.errno)';
    const { stdout } = await at.sh('', { command: ['python3', '-c', code] });
    expect(stdout).toBe('94\n');
  });
});
