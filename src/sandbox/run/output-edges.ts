import type { CapturedStream } from '../../kernel/world/sandbox.ts';
import { createGrowingBytes } from './byte-buffer.ts';

const EDGE_BYTES = 64 * 1024;

interface OutputEdges {
  write(bytes: Uint8Array): void;
  captured(): CapturedStream;
  /** A copy of the last bytes. */
  newest(most: number): Buffer;
}

/** The first and the last 64 KB of a stream, whatever comes between. */
export function createOutputEdges(): OutputEdges {
  const head = createGrowingBytes();
  let ring: Buffer | null = null;
  let [ringEnd, tailBytes, totalBytes] = [0, 0, 0];

  function captured(): CapturedStream {
    if (ring === null) return { head: head.all(), tail: Buffer.alloc(0), totalBytes };
    const tail =
      tailBytes < EDGE_BYTES
        ? Buffer.from(ring.subarray(0, tailBytes))
        : Buffer.concat([ring.subarray(ringEnd), ring.subarray(0, ringEnd)]);
    return { head: head.all(), tail, totalBytes };
  }

  return {
    captured,
    newest(most) {
      const { head: first, tail } = captured();
      return Buffer.concat([first, tail]).subarray(-most || first.length + tail.length);
    },
    write(bytes) {
      totalBytes += bytes.length;
      // The fast path of a flood of output: everything fits, and one copy is enough.
      if (ring !== null && tailBytes === EDGE_BYTES && ringEnd + bytes.length < EDGE_BYTES) {
        ring.set(bytes, ringEnd);
        ringEnd += bytes.length;
        return;
      }
      const toHead = Math.min(bytes.length, EDGE_BYTES - head.length);
      if (toHead > 0) head.add(bytes.subarray(0, toHead));
      const rest = bytes.subarray(Math.max(toHead, bytes.length - EDGE_BYTES));
      if (rest.length === 0) return;
      ring ??= Buffer.allocUnsafe(EDGE_BYTES);
      const first = Math.min(rest.length, EDGE_BYTES - ringEnd);
      ring.set(rest.subarray(0, first), ringEnd);
      ring.set(rest.subarray(first), 0);
      ringEnd = (ringEnd + rest.length) % EDGE_BYTES;
      tailBytes = Math.min(EDGE_BYTES, tailBytes + rest.length);
    },
  };
}
