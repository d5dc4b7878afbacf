import { closeSync, readSync, writeSync } from 'node:fs';
import { createUnlinkedFile } from '../../host/files.ts';
import type { OutputLog, OutputStream } from '../../kernel/world/sandbox.ts';
import { createGrowingBytes, type GrowingBytes } from './byte-buffer.ts';

/** The size up to which a log stays in memory; then it moves to a file. */
const MEMORY_BYTES = 256 * 1024;
/** A program that alternates between its streams byte by byte would make millions of pieces, each larger than its content. */
const MAX_PIECES = 10_000;

/** Keeps both streams in the order they came, as pieces of one stream each. */
export function createOutputLog(
  folder: string,
  keepBytes: number,
): OutputLog & { write(stream: OutputStream, bytes: Uint8Array): void } {
  const starts: number[] = [];
  const streams: OutputStream[] = [];
  let memory: GrowingBytes | null = createGrowingBytes();
  let file: number | null = null;
  let [keptBytes, totalBytes] = [0, 0];
  let full = false;

  /** Returns how many bytes were kept: fewer than all when the disk is full. From then on bytes are only counted. */
  function store(bytes: Uint8Array): number {
    if (memory !== null && keptBytes + bytes.length <= MEMORY_BYTES) {
      memory.add(bytes);
      return bytes.length;
    }
    if (memory !== null) {
      const moved = moveToFile(folder, memory.all());
      if (moved === null) return 0;
      file = moved;
      memory = null;
    }
    return file === null ? 0 : writeSome(file, bytes, keptBytes);
  }

  function readBytes(offset: number, length: number): Uint8Array {
    const size = Math.max(0, Math.min(length, keptBytes - offset));
    if (memory !== null) return memory.all().subarray(offset, offset + size);
    const bytes = Buffer.alloc(size);
    return file === null ? Buffer.alloc(0) : bytes.subarray(0, readSync(file, bytes, 0, size, offset));
  }

  /** Splits bytes read at `offset` by the streams they came from. */
  function cut(bytes: Uint8Array, offset: number): ReturnType<OutputLog['pieces']> {
    const end = offset + bytes.length;
    const found: ReturnType<OutputLog['pieces']> = [];
    for (let i = startOf(starts, offset); i < starts.length && (starts[i] ?? 0) < end; i++) {
      const from = Math.max(offset, starts[i] ?? 0);
      const to = Math.min(end, starts[i + 1] ?? end);
      found.push({ stream: streams[i] ?? 'stdout', bytes: bytes.subarray(from - offset, to - offset) });
    }
    return found;
  }

  return {
    get keptBytes() {
      return keptBytes;
    },
    get totalBytes() {
      return totalBytes;
    },
    write(stream, bytes) {
      totalBytes += bytes.length;
      if (full || keptBytes >= keepBytes) return;
      const kept = bytes.subarray(0, Math.max(0, keepBytes - keptBytes));
      if (kept.length === 0) return;
      const stored = store(kept);
      full = stored < kept.length;
      if (stored === 0) return;
      const isLast = streams.length >= MAX_PIECES - 1;
      if (streams.at(-1) !== stream && streams.length < MAX_PIECES) {
        starts.push(keptBytes);
        streams.push(isLast ? 'stdout' : stream);
      }
      keptBytes += stored;
    },
    read(offset, length, stream) {
      if (stream === undefined) return readBytes(offset, length);
      const window = readBytes(offset, length);
      return Buffer.concat(
        cut(window, offset)
          .filter((piece) => piece.stream === stream)
          .map(({ bytes }) => bytes),
      );
    },
    pieces: () => cut(readBytes(0, keptBytes), 0),
    dispose() {
      if (file !== null) closeSync(file);
      file = null;
      memory = null;
    },
  };
}

/** A file that begins with these bytes; null when the disk has no room for it. */
function moveToFile(folder: string, bytes: Uint8Array): number | null {
  let file: number;
  try {
    file = createUnlinkedFile(folder);
  } catch {
    return null;
  }
  if (writeSome(file, bytes, 0) === bytes.length) return file;
  closeSync(file);
  return null;
}

/** Writes and returns how many bytes the disk accepted: all of them, unless it is full. */
function writeSome(file: number, bytes: Uint8Array, at: number): number {
  let written = 0;
  try {
    while (written < bytes.length) {
      const size = writeSync(file, bytes, written, bytes.length - written, at + written);
      if (size === 0) break;
      written += size;
    }
  } catch {
    // Full, or over a quota. Earlier bytes stay.
  }
  return written;
}

/** The index of the piece that contains `offset`. */
function startOf(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
