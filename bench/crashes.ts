import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { compileProgram } from '../test/faults/compile-program.ts';
import { brokenPromises, startWriter } from '../test/faults/writers.ts';
import { atMost, type Benchmark, type Measurement, reported } from './benchmark.ts';

const KILLS = Number(process.env.CRASH_KILLS ?? 1000);
const POWER_CUTS = Number(process.env.CRASH_POWER_CUTS ?? 50);
const WRITERS = 5;
const KILLS_PER_STORE = 50;

export const benchmark: Benchmark = {
  about: `Crashes of a writer: ${KILLS} kills, and ${POWER_CUTS} power cuts where this machine can simulate them (root).`,
  async run() {
    const program = compileProgram('test/faults/writer-program.ts');
    try {
      return [...(await kills(program)), ...(await powerCuts(program))];
    } finally {
      rmSync(dirname(dirname(dirname(program))), { recursive: true });
    }
  },
};

interface Sum {
  acknowledged: number;
  lost: number;
  broken: string[];
}

async function kills(program: string): Promise<Measurement[]> {
  const sum: Sum = { acknowledged: 0, lost: 0, broken: [] };
  for (let done = 0; done < KILLS; ) {
    const folder = mkdtempSync(join(tmpdir(), 'crashes-'));
    const said = new Map<string, string[]>();
    for (let round = 0; round < KILLS_PER_STORE / WRITERS && done < KILLS; round++, done += WRITERS) {
      const writers = Array.from({ length: WRITERS }, (_, index) =>
        startWriter(program, { folder }, `r${round}w${index}`),
      );
      await Promise.all(
        writers.map(async ({ session, lines, child, ready, ended }) => {
          said.set(session, lines);
          await ready;
          await delay(5 + Math.random() * 60);
          child.kill('SIGKILL');
          await ended;
        }),
      );
    }
    add(sum, await brokenPromises({ folder }, said));
    rmSync(folder, { recursive: true });
  }
  return judged(sum, `${KILLS} kills`);
}

/**
 * A power cut, as file systems test it: the store is on a file system of its own, which is told to stop without writing
 * out what it holds; it is mounted again, its journal replayed, and what was acknowledged must be there.
 */
async function powerCuts(program: string): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'power-'));
  const [image, disk] = [join(folder, 'image'), join(folder, 'disk')];
  mkdirSync(disk);
  try {
    const why = unable(image, disk);
    if (why !== undefined) return [reported(`power cuts: not run, ${why}`, 0, 'cuts')];
    const sum: Sum = { acknowledged: 0, lost: 0, broken: [] };
    for (let cut = 0; cut < POWER_CUTS; cut++) {
      // A new store now and then: its folders are what a cut takes first.
      const state = join(disk, `state${Math.floor(cut / 3)}`);
      const { session, lines, child, ready, ended } = startWriter(program, { folder: state }, `cut${cut}`);
      await ready;
      await delay(50 + Math.random() * 400);
      execFileSync('python3', ['-c', STOP, disk]);
      // Lines printed after the power cut cannot have been kept; lines that arrived here before it must have been.
      const before = [...lines];
      child.kill('SIGKILL');
      await ended;
      execFileSync('umount', [disk]);
      execFileSync('mount', ['-o', 'loop', image, disk]);
      add(sum, await brokenPromises({ folder: state }, new Map([[session, before]])));
    }
    return judged(sum, `${POWER_CUTS} power cuts`);
  } finally {
    spawnSync('umount', [disk]);
    rmSync(folder, { recursive: true });
  }
}

/** EXT4_IOC_SHUTDOWN without flushing the log. Node has no ioctl. */
const STOP = `import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack("I", 2))`;

/** Undefined when the disk is mounted; otherwise what this machine lacks. */
function unable(image: string, disk: string): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root';
  const steps: [string, string[]][] = [
    ['python3', ['-c', 'import fcntl']],
    ['truncate', ['-s', '512M', image]],
    ['mkfs.ext4', ['-q', '-F', image]],
    ['mount', ['-o', 'loop', image, disk]],
  ];
  for (const [program, args] of steps) {
    const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
    if (status !== 0) return `${program} does not work here: ${(stderr ?? 'it is not installed').trim()}`;
  }
  return undefined;
}

function add(sum: Sum, { acknowledged, lost, broken }: Sum): void {
  sum.acknowledged += acknowledged;
  sum.lost += lost;
  sum.broken.push(...broken);
}

function judged({ acknowledged, lost, broken }: Sum, what: string): Measurement[] {
  for (const problem of broken.slice(0, 10)) console.error(problem);
  return [
    reported(`${what}: events acknowledged`, acknowledged, 'events'),
    atMost(`${what}: of those lost`, lost, 'events', 0),
    atMost(`${what}: other promises broken`, broken.length - lost, 'promises', 0),
  ];
}
