import { describe, expect, test } from 'vitest';
import { seccompFilter } from './seccomp.ts';
import { MACHINES } from './seccomp-calls.ts';

const ALLOW = 'allow';
const EPERM = 'errno 1';

/** Runs the program as the kernel would, so that both processors are tested on either. */
function judge(processor: string, call: { number: number; audit?: number; args?: number[]; high?: number[] }): string {
  const filter = Buffer.from(seccompFilter(processor) ?? []);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, 0);
  data.writeUInt32LE((call.audit ?? MACHINES[processor]?.audit ?? 0) >>> 0, 4);
  for (const [i, value] of (call.args ?? []).entries()) data.writeUInt32LE(value >>> 0, 16 + i * 8);
  for (const [i, value] of (call.high ?? []).entries()) data.writeUInt32LE(value, 20 + i * 8);
  let loaded = 0;
  for (let at = 0; ; at++) {
    const code = filter.readUInt16LE(at * 8);
    const [ifTrue, ifFalse] = [filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)];
    const value = filter.readUInt32LE(at * 8 + 4);
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else if (code === 0x54) loaded &= value;
    else if (code === 0x15) at += loaded === value ? ifTrue : ifFalse;
    else if (code === 0x35) at += loaded >= value ? ifTrue : ifFalse;
    else if (code === 0x45) at += (loaded & value) !== 0 ? ifTrue : ifFalse;
    else if (value === 0x7fff0000) return ALLOW;
    else if (value === 0x80000000) return 'kill';
    else return `errno ${value & 0xffff}`;
  }
}

describe.each(['x64', 'arm64'])('the seccomp filter for %s', (processor) => {
  const machine = MACHINES[processor];
  if (machine === undefined) throw new Error(`no calls listed for ${processor}`);

  test.each(Object.entries(machine.denied))('refuses %s', (_name, number) => {
    expect(judge(processor, { number })).toBe(EPERM);
  });

  test('lets ordinary threads and processes start, and refuses every new namespace', () => {
    expect(judge(processor, { number: machine.clone, args: [0x3d0f00] })).toBe(ALLOW);
    expect(judge(processor, { number: machine.clone, args: [0x10000011] })).toBe(EPERM);
    expect(judge(processor, { number: machine.unshare, args: [0x200] })).toBe(ALLOW);
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80]) {
      expect(judge(processor, { number: machine.unshare, args: [flag] })).toBe(EPERM);
    }
    expect(judge(processor, { number: machine.clone3 })).toBe('errno 38');
  });

  test('no thread gets descriptors of its own, which nobody would look at', () => {
    const [thread, files] = [0x10000, 0x400];
    const fork = 0x1200011;
    for (const flags of [fork, 0x4111, 0x3d0f00, files | 0x111, thread | files]) {
      expect(judge(processor, { number: machine.clone, args: [flags] })).toBe(ALLOW);
    }
    for (const flags of [0x3d0f00 & ~files, thread, 0x10000000 | thread | files]) {
      expect(judge(processor, { number: machine.clone, args: [flags] })).toBe(EPERM);
    }
    expect(judge(processor, { number: machine.unshare, args: [files] })).toBe(EPERM);
    for (const flags of [0, 4]) {
      expect(judge(processor, { number: machine.closeRange, args: [3, 0xffffffff, flags] })).toBe(ALLOW);
    }
    for (const flags of [2, 6]) {
      expect(judge(processor, { number: machine.closeRange, args: [3, 0xffffffff, flags] })).toBe(EPERM);
    }
  });

  test('room is written, never reserved, and can be given back', () => {
    const [keepSize, punchHole, zeroRange] = [1, 2, 0x10];
    for (const mode of [0, keepSize, zeroRange, zeroRange | keepSize, 0x40]) {
      expect(judge(processor, { number: machine.fallocate, args: [3, mode] })).toBe('errno 95');
    }
    expect(judge(processor, { number: machine.fallocate, args: [3, punchHole | keepSize] })).toBe(ALLOW);
    for (const request of [0x40305828, 0x4030582a, 0x40305839]) {
      expect(judge(processor, { number: machine.ioctl, args: [3, request] })).toBe('errno 95');
    }
  });

  test('opens internet and netlink sockets, and no unix, packet, alg or vsock ones', () => {
    for (const family of [2, 10, 16]) expect(judge(processor, { number: machine.socket, args: [family] })).toBe(ALLOW);
    for (const family of [1, 17, 38, 40]) {
      expect(judge(processor, { number: machine.socket, args: [family] })).toBe('errno 97');
    }
  });

  test('connects pairs of streams, and none of datagrams, which send to any socket file', () => {
    const closeOnExec = 0x80000;
    for (const type of [1, 5, 1 | closeOnExec]) {
      expect(judge(processor, { number: machine.socketpair, args: [1, type] })).toBe(ALLOW);
    }
    for (const type of [2, 3, 2 | closeOnExec]) {
      expect(judge(processor, { number: machine.socketpair, args: [1, type] })).toBe('errno 94');
    }
  });

  test('refuses to type into a terminal and lets other ioctls pass', () => {
    expect(judge(processor, { number: machine.ioctl, args: [0, 0x5412] })).toBe(EPERM);
    expect(judge(processor, { number: machine.ioctl, args: [0, 0x541c] })).toBe(EPERM);
    expect(judge(processor, { number: machine.ioctl, args: [0, 0x5413] })).toBe(ALLOW);
  });

  test.each(Object.entries(machine.modes))(
    '%s makes no file with the rights of its owner, and no device',
    (_name, call) => {
      const args = (mode: number) => Array.from({ length: 4 }, (_, i) => (i === call.mode ? mode : 0o7777777));
      for (const mode of [0o644, 0o1777, 0o100755, 0o010600]) {
        expect(judge(processor, { number: call.number, args: args(mode) })).toBe(ALLOW);
      }
      for (const mode of [0o4755, 0o2755, 0o104111, 0o020666, 0o060666]) {
        expect(judge(processor, { number: call.number, args: args(mode) })).toBe(EPERM);
      }
    },
  );

  test.each(Object.entries(machine.opens))('%s makes none either, and its mode counts only then', (_name, call) => {
    const judged = (flags: number, mode: number) => {
      const args = [0, 0, 0, 0];
      args[call.flags] = flags;
      args[call.mode] = mode;
      return judge(processor, { number: call.number, args });
    };
    expect(judged(0o2, 0o7777)).toBe(ALLOW);
    expect(judged(0o200000, 0o7777)).toBe(ALLOW);
    expect(judged(0o102, 0o644)).toBe(ALLOW);
    expect(judged(0o102, 0o4755)).toBe(EPERM);
    expect(judged(0o20200002, 0o2755)).toBe(EPERM);
    expect(judge(processor, { number: machine.openat2 })).toBe('errno 38');
  });

  test('gives out only small segments of shared memory', () => {
    const judged = (size: number) => {
      const args = [0, size % 2 ** 32];
      return judge(processor, { number: machine.shmget, args, high: [0, Math.floor(size / 2 ** 32)] });
    };
    for (const size of [0, 56, 64 * 1024]) expect(judged(size)).toBe(ALLOW);
    for (const size of [64 * 1024 + 1, 2 ** 31, 2 ** 32, 2 ** 32 + 56]) expect(judged(size)).toBe('errno 22');
  });

  test('kills a program of another processor', () => {
    expect(judge(processor, { number: 1, audit: 0x40000003 })).toBe('kill');
  });
});

test('refuses the second calling convention of x64', () => {
  expect(judge('x64', { number: 0x40000000 + 101 })).toBe('errno 38');
});

test('there is no filter for a processor whose calls are not listed', () => {
  expect(seccompFilter('mips')).toBeNull();
});
