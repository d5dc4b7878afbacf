import { MACHINES, type Machine } from './seccomp-calls.ts';

const [LOAD, KEEP_BITS, JUMP_EQUAL, JUMP_FROM, JUMP_BITS, RETURN] = [0x20, 0x54, 0x15, 0x35, 0x45, 0x06];
const [ALLOW, KILL, ERRNO] = [0x7fff0000, 0x80000000, 0x00050000];
const [EPERM, EINVAL, ENOSYS, ESOCKTNOSUPPORT, EOPNOTSUPP, EAFNOSUPPORT] = [1, 22, 38, 94, 95, 97];
/** Offsets in the data that the kernel passes to the filter. */
const [NUMBER, AUDIT] = [0, 4];
/** The low word of an argument: both processors are little-endian. */
const argument = (index: number): number => 16 + 8 * index;

/** mount, cgroup, uts, ipc, user, pid and net; `unshare` also knows time. */
const NEW_NAMESPACES = 0x7e020000;
const NEW_TIME_NAMESPACE = 0x80;
/** Flags for a thread with its own file descriptors: only those of the first thread are checked. */
const OWN_DESCRIPTORS = { thread: 0x10000, shared: 0x400, onClosing: 0x2 };
/** Types into the terminal from which Toolwright was started. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/**
 * Reserving room takes a disk in one call, before any watchdog looks. C libraries write instead when it is not supported,
 * as on many disks, and that is as slow as a disk and counted. Giving room back stays: PUNCH_HOLE with KEEP_SIZE.
 */
const GIVES_BACK = 0x3;
/** The older ways to the same: FS_IOC_RESVSP, FS_IOC_RESVSP64, FS_IOC_ZERO_RANGE, in both layouts of their argument. */
const RESERVES = [0x40305828, 0x4030582a, 0x40305839, 0x402c5828, 0x402c582a, 0x402c5839];
/**
 * inet, inet6, netlink. Not unix: a socket file in the workspace belongs to a process on the host. Not vsock: it
 * reaches the machine under a virtual one, past every network namespace. Connected pairs are another system call.
 */
const SOCKET_FAMILIES = [2, 10, 16];
/** stream, seqpacket. One of a pair of datagrams also sends to any socket file. */
const PAIR_TYPES = [1, 5];
const TYPE_BITS = 0xf;

/** Returns the filter in the form of bubblewrap, or null for a processor whose system calls are not listed. */
export function seccompFilter(processor: string): Uint8Array | null {
  const machine = MACHINES[processor];
  return machine === undefined ? null : assemble(instructions(machine));
}

/**
 * Mode bits of a file that runs with the rights of its owner or group: files of a run by root belong to root on the host, and
 * any user of the machine could start them. The last bit is in the two kinds of device and in no other kind of file.
 */
const PRIVILEGED = 0o4000 | 0o2000;
const DEVICE = 0o020000;
/** Flags that create a file, with a name or without one. Only then is there a mode among the arguments. */
const CREATES = 0o100 | 0o20000000;

/**
 * A segment of shared memory belongs to no process, so only a control group could count it. There may be 4,096 of them;
 * databases take a small one as a lock.
 */
const MAX_SEGMENT_BYTES = 64 * 1024;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

function instructions(machine: Machine): Instruction[] {
  const fail = (errno: number): Instruction => [RETURN, 0, 0, ERRNO | errno];
  const allow: Instruction = [RETURN, 0, 0, ALLOW];
  const load = (offset: number): Instruction => [LOAD, 0, 0, offset];
  /** Runs `body`, which must end in a return, for one system call only. */
  const forCall = (number: number, body: Instruction[]): Instruction[] => [
    [JUMP_EQUAL, 0, body.length, number],
    ...body,
  ];
  const failOnBits = (index: number, bits: number): Instruction[] => [
    load(argument(index)),
    [JUMP_BITS, 0, 1, bits],
    fail(EPERM),
    allow,
  ];
  const makesNoPrivileged = (flags: number, mode: number): Instruction[] => [
    load(argument(flags)),
    [JUMP_BITS, 1, 0, CREATES],
    allow,
    ...failOnBits(mode, PRIVILEGED),
  ];

  return [
    load(AUDIT),
    [JUMP_EQUAL, 1, 0, machine.audit],
    [RETURN, 0, 0, KILL],
    load(NUMBER),
    ...(machine.foreignFrom === null ? [] : [[JUMP_FROM, 0, 1, machine.foreignFrom] as const, fail(ENOSYS)]),
    // First, since it is called most.
    ...Object.values(machine.opens).flatMap(({ number, flags, mode }) =>
      forCall(number, makesNoPrivileged(flags, mode)),
    ),
    ...Object.values(machine.modes).flatMap(({ number, mode }) =>
      forCall(number, failOnBits(mode, PRIVILEGED | DEVICE)),
    ),
    ...forCall(machine.openat2, [fail(ENOSYS)]),
    ...forCall(machine.shmget, [
      load(argument(1) + 4),
      [JUMP_EQUAL, 1, 0, 0],
      fail(EINVAL),
      load(argument(1)),
      [JUMP_FROM, 0, 1, MAX_SEGMENT_BYTES + 1],
      fail(EINVAL),
      allow,
    ]),
    ...Object.values(machine.denied).flatMap((number) => forCall(number, [fail(EPERM)])),
    // Its flags, like those of openat2, are behind a pointer that a filter cannot follow; C libraries fall back to clone.
    ...forCall(machine.clone3, [fail(ENOSYS)]),
    ...forCall(machine.clone, [
      load(argument(0)),
      [JUMP_BITS, 3, 0, NEW_NAMESPACES],
      [JUMP_BITS, 0, 1, OWN_DESCRIPTORS.thread],
      [JUMP_BITS, 0, 1, OWN_DESCRIPTORS.shared],
      allow,
      fail(EPERM),
    ]),
    ...forCall(machine.unshare, failOnBits(0, NEW_NAMESPACES | NEW_TIME_NAMESPACE | OWN_DESCRIPTORS.shared)),
    ...forCall(machine.closeRange, failOnBits(2, OWN_DESCRIPTORS.onClosing)),
    ...forCall(machine.socket, [
      load(argument(0)),
      ...SOCKET_FAMILIES.flatMap((family): Instruction[] => [[JUMP_EQUAL, 0, 1, family], allow]),
      fail(EAFNOSUPPORT),
    ]),
    ...forCall(machine.socketpair, [
      load(argument(1)),
      [KEEP_BITS, 0, 0, TYPE_BITS],
      ...PAIR_TYPES.flatMap((type): Instruction[] => [[JUMP_EQUAL, 0, 1, type], allow]),
      fail(ESOCKTNOSUPPORT),
    ]),
    ...forCall(machine.ioctl, [
      load(argument(1)),
      ...[TIOCSTI, TIOCLINUX].flatMap((request): Instruction[] => [[JUMP_EQUAL, 0, 1, request], fail(EPERM)]),
      ...RESERVES.flatMap((request): Instruction[] => [[JUMP_EQUAL, 0, 1, request], fail(EOPNOTSUPP)]),
      allow,
    ]),
    ...forCall(machine.fallocate, [load(argument(1)), [JUMP_EQUAL, 0, 1, GIVES_BACK], allow, fail(EOPNOTSUPP)]),
    allow,
  ];
}

function assemble(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [i, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, i * 8);
    bytes.writeUInt8(ifTrue, i * 8 + 2);
    bytes.writeUInt8(ifFalse, i * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, i * 8 + 4);
  }
  return bytes;
}
