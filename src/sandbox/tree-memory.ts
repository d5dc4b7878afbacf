import { readText } from './files.ts';
import { createHolding, type Held } from './held-files.ts';
import {
  availableMemoryOfMachine,
  dividedMemory,
  type ProcessMemory,
  type ProcessSample,
  plainMemory,
  sharedMemoryOfMachine,
} from './proc.ts';

/** Memory of the processes of one run, from before it starts. */
export interface TreeMemory {
  /** Only a sum above `enough` is worth the price of looking closely. */
  of(samples: readonly ProcessSample[], enough: number): number;
}

/**
 * Pages that several processes share are in the figures of each, and divided among them when the plain sum is above
 * `enough`. Files in memory that no process has mapped are counted where they are held; where that cannot be seen, by
 * what the machine's shared memory has grown. What waits in sockets is nobody's: it counts as what the machine lost and
 * nothing else explains, up to what that many sockets can hold.
 */
export function createTreeMemory(): TreeMemory {
  const before = { shared: sharedMemoryOfMachine(), available: availableMemoryOfMachine() };
  const holding = createHolding();

  function total({ memoryBytes, sharedBytes }: ProcessMemory, held: Held): number {
    const grown = held.unseen.inMemory ? sharedMemoryOfMachine() - before.shared - sharedBytes : 0;
    const open = sizeOf(held, true) + Math.max(0, sizeOf(held, false) - sharedBytes);
    const known = memoryBytes + Math.max(0, grown, open);
    const lost = before.available - availableMemoryOfMachine() - known;
    return known + Math.max(0, Math.min(lost, held.sockets * mostInSocket()));
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
