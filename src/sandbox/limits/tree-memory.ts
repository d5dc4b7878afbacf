import { readText } from '../../host/files.ts';
import {
  dividedMemory,
  kernelMemoryOfMachine,
  type ProcessMemory,
  type ProcessSample,
  plainMemory,
  sharedMemoryOfMachine,
} from '../../host/proc.ts';
import { createUnlinkedFileScan, type UnlinkedFiles } from './unlinked-files.ts';

/** Measures the memory of the processes of one run; created before the run starts. */
export interface TreeMemory {
  /** Looks closely, which is expensive, only when the plain sum is above `enough`. */
  of(samples: readonly ProcessSample[], enough: number): number;
}

/**
 * Shared pages are in the figures of each process; they are divided among the processes when the plain sum is above
 * `enough`. Files in memory that no process has mapped are counted where they are held open; where that cannot be seen, by
 * the growth of the machine's shared memory. Data in sockets belongs to no process: it counts as the growth of the kernel's
 * own memory, up to the capacity of that many sockets.
 */
export function createTreeMemory(): TreeMemory {
  const before = { shared: sharedMemoryOfMachine(), kernel: kernelMemoryOfMachine() };
  const holding = createUnlinkedFileScan();
  let grownBefore: readonly number[] = [];

  /** The least growth of the last looks: memory that programs free is the kernel's for a moment. */
  function lastingGrowth(hasSockets: boolean): number {
    if (!hasSockets) return 0;
    grownBefore = [...grownBefore.slice(1 - LOOKS), kernelMemoryOfMachine() - before.kernel];
    return grownBefore.length < LOOKS ? 0 : Math.min(...grownBefore);
  }

  function total({ memoryBytes, sharedBytes }: ProcessMemory, held: UnlinkedFiles): number {
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
      // A process that ends while the others are read leaves its share to them: only a sum that two looks agree on counts.
      return Math.min(divided, total(dividedSum(samples), held));
    },
  };
}

/** Several each second. */
const LOOKS = 4;

function sizeOf({ files }: UnlinkedFiles, open: boolean): number {
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

/** The most bytes that a socket can be set to hold in both directions: the kernel doubles the requested size. */
function mostInSocket(): number {
  inSocket ??= ['rmem_max', 'wmem_max']
    .map((name) => 2 * (Number(readText(`/proc/sys/net/core/${name}`)) || USUAL_BUFFER))
    .reduce((sum, bytes) => sum + bytes, 0);
  return inSocket;
}

const USUAL_BUFFER = 212_992;
