import { readText } from '../files.ts';
import { createHolding, type Held } from './unlinked-files.ts';
import {
  dividedMemory,
  kernelMemoryOfMachine,
  type ProcessMemory,
  type ProcessSample,
  plainMemory,
  sharedMemoryOfMachine,
} from '../../host/proc.ts';

/** Memory of the processes of one run, from before it starts. */
export interface TreeMemory {
  /** Only a sum above `enough` is worth the price of looking closely. */
  of(samples: readonly ProcessSample[], enough: number): number;
}

/**
 * Pages that several processes share are in the figures of each, and divided among them when the plain sum is above
 * `enough`. Files in memory that no process has mapped are counted where they are held; where that cannot be seen, by
 * what the machine's shared memory has grown. What waits in sockets is nobody's: it counts as what the system itself has
 * taken since, up to what that many sockets can hold.
 */
export function createTreeMemory(): TreeMemory {
  const before = { shared: sharedMemoryOfMachine(), kernel: kernelMemoryOfMachine() };
  const holding = createHolding();
  let grownBefore: readonly number[] = [];

  /** What programs give back is the system's for a moment. */
  function lastingGrowth(hasSockets: boolean): number {
    if (!hasSockets) return 0;
    grownBefore = [...grownBefore.slice(1 - LOOKS), kernelMemoryOfMachine() - before.kernel];
    return grownBefore.length < LOOKS ? 0 : Math.min(...grownBefore);
  }

  function total({ memoryBytes, sharedBytes }: ProcessMemory, held: Held): number {
    const hidden = held.unseen.inMemory;
    const grown = hidden > 0 ? Math.min(hidden, sharedMemoryOfMachine() - before.shared - sharedBytes) : 0;
    const open = sizeOf(held, true) + Math.max(0, sizeOf(held, false) - sharedBytes);
    const known = memoryBytes + Math.max(0, grown, open);
    return known + Math.max(0, Math.min(lastingGrowth(held.sockets > 0), held.sockets * mostInSocket()));
  }

  return {
    of(samples, enough) {
      const held = holding(samples.map(({ pid }) => pid));
      const plain = total(sumOf(samples), held);
      if (plain <= enough) return plain;
      const divided = total(dividedSum(samples), held);
      if (divided <= enough) return divided;
      // A process that ends while the others are read leaves its share to them: only what two looks agree on counts.
      return Math.min(divided, total(dividedSum(samples), held));
    },
  };
}

/** Several each second. */
const LOOKS = 4;

function sizeOf({ files }: Held, open: boolean): number {
  return files.filter(({ inMemory, isOpen }) => inMemory && isOpen === open).reduce((sum, { bytes }) => sum + bytes, 0);
}

function dividedSum(samples: readonly ProcessSample[]): ProcessMemory {
  return sumOf(samples.map(({ pid }) => dividedMemory(pid) ?? plainMemory(pid)));
}

function sumOf(parts: readonly ProcessMemory[]): ProcessMemory {
  return {
    memoryBytes: parts.reduce((sum, each) => sum + each.memoryBytes, 0),
    sharedBytes: parts.reduce((sum, each) => sum + each.sharedBytes, 0),
  };
}

let inSocket: number | undefined;

/** What a socket may be set to hold in both directions: the kernel doubles what is asked for. */
function mostInSocket(): number {
  inSocket ??= ['rmem_max', 'wmem_max']
    .map((name) => 2 * (Number(readText(`/proc/sys/net/core/${name}`)) || USUAL_BUFFER))
    .reduce((sum, bytes) => sum + bytes, 0);
  return inSocket;
}

const USUAL_BUFFER = 212_992;
