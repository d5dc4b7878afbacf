export interface GrowingBytes {
  readonly length: number;
  add(bytes: Uint8Array): void;
  all(): Buffer;
}

/** Grows by doubling, so that many small writes stay cheap. */
export function createGrowingBytes(): GrowingBytes {
  let buffer = Buffer.alloc(0);
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(bytes) {
      if (length + bytes.length > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.max(1024, 2 * buffer.length, length + bytes.length));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      buffer.set(bytes, length);
      length += bytes.length;
    },
    all: () => buffer.subarray(0, length),
  };
}
