import { closeSync, readSync, writeSync } from 'node:fs';
import type { Captured, OutputChunk, OutputLog, RunOutput } from '../kernel/sandbox.ts';
import { namelessFile } from './files.ts';

type Stream = 'stdout' | 'stderr';

const EDGE_BYTES = 64 * 1024;
const EVENT_BYTES = 64 * 1024;
const EVENT_MS = 50;
/** What a log holds in memory before it moves to a file. */
const MEMORY_BYTES = 256 * 1024;

export interface OutputOptions {
  /** Where a long log is spooled, in a file without a name. */
  readonly folder: string;
  readonly keepBytes: number;
  readonly maxBytes: number;
  onOutput?: ((chunk: OutputChunk) => void) | undefined;
  /** Called once, when the streams together pass `maxBytes`. */
  onTooMuch(): void;
}

export interface OutputCollector {
  readonly log: OutputLog;
  /** The bytes are copied; the caller may reuse its buffer. */
  write(stream: Stream, bytes: Uint8Array): void;
  /** Sends what waits to be sent. Nothing is written after it. */
  finish(): RunOutput;
}

export function createOutput(options: OutputOptions): OutputCollector {
  const edges = { stdout: createEdges(), stderr: createEdges() };
  const log = createLog(options.folder, options.keepBytes);
  const events = createEvents(options.onOutput, (stream, most) => edges[stream].newest(most));
  let tooMuch = false;

  return {
    log,
    write(stream, bytes) {
      const offset = log.totalBytes;
      edges[stream].write(bytes);
      log.write(stream, bytes);
      events.add(stream, offset, bytes.length);
      if (!tooMuch && log.totalBytes > options.maxBytes) {
        tooMuch = true;
        options.onTooMuch();
      }
    },
    finish() {
      events.flush();
      return { stdout: edges.stdout.captured(), stderr: edges.stderr.captured(), log };
    },
  };
}

interface Edges {
  write(bytes: Uint8Array): void;
  captured(): Captured;
  /** A copy of the last bytes. */
  newest(most: number): Buffer;
}

/** The first and the last 64 KB of a stream, whatever comes between. */
function createEdges(): Edges {
  const head = createBytes();
  let ring: Buffer | null = null;
  let [ringEnd, tailBytes, totalBytes] = [0, 0, 0];

  function captured(): Captured {
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
      // The flood: everything fits behind what is there, and one copy is all there is to do.
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

interface Bytes {
  readonly length: number;
  add(bytes: Uint8Array): void;
  all(): Buffer;
}

/** Grows by doubling, so that many small writes stay cheap. */
function createBytes(): Bytes {
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

/** Both streams in the order they came, as runs of bytes that belong to one stream. */
function createLog(folder: string, keepBytes: number): OutputLog & { write(stream: Stream, bytes: Uint8Array): void } {
  const starts: number[] = [];
  const streams: Stream[] = [];
  let memory: Bytes | null = createBytes();
  let file: number | null = null;
  let [keptBytes, totalBytes] = [0, 0];
  let full = false;

  /** How much of it was kept. Less than all when the disk is full: from then on bytes are only counted. */
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
      if (streams.at(-1) !== stream) {
        starts.push(keptBytes);
        streams.push(stream);
      }
      keptBytes += stored;
    },
    read(offset, length, stream) {
      if (stream === undefined) return readBytes(offset, length);
      const end = Math.min(keptBytes, offset + length);
      const parts: Uint8Array[] = [];
      for (let i = startOf(starts, offset); i < starts.length && (starts[i] ?? 0) < end; i++) {
        const from = Math.max(offset, starts[i] ?? 0);
        const to = Math.min(end, starts[i + 1] ?? keptBytes);
        if (streams[i] === stream) parts.push(readBytes(from, to - from));
      }
      return Buffer.concat(parts);
    },
    pieces: () =>
      streams.map((stream, i) => {
        const from = starts[i] ?? 0;
        return { stream, bytes: readBytes(from, (starts[i + 1] ?? keptBytes) - from) };
      }),
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
    file = namelessFile(folder);
  } catch {
    return null;
  }
  if (writeSome(file, bytes, 0) === bytes.length) return file;
  closeSync(file);
  return null;
}

/** How many bytes the disk took: all of them, unless it is full. */
function writeSome(file: number, bytes: Uint8Array, at: number): number {
  let written = 0;
  try {
    while (written < bytes.length) {
      const size = writeSync(file, bytes, written, bytes.length - written, at + written);
      if (size === 0) break;
      written += size;
    }
  } catch {
    // Full, or over a quota. What was written before stays.
  }
  return written;
}

/** The index of the run that holds `offset`. */
function startOf(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/**
 * Holds back what comes within 50 ms, and sends it as one event, however many pieces it came in; when both streams have
 * something, the other one 50 ms later. Nothing is copied meanwhile: the newest bytes are taken from what is kept anyway.
 */
function createEvents(
  onOutput: ((chunk: OutputChunk) => void) | undefined,
  newest: (stream: Stream, most: number) => Buffer,
) {
  const waiting = { stdout: createWaiting(), stderr: createWaiting() };
  /** Whose turn it is comes first. */
  let streams: [Stream, Stream] = ['stdout', 'stderr'];
  let timer: NodeJS.Timeout | null = null;

  /** False when there was nothing to send. */
  function send(): boolean {
    const stream = streams.find((each) => waiting[each].isWaiting());
    if (stream === undefined) return false;
    if (stream === streams[0]) streams = [streams[1], streams[0]];
    const { offset, length } = waiting[stream].take();
    onOutput?.({ stream, offset, bytes: newest(stream, length) });
    return true;
  }

  function sendInTime(): void {
    timer = send() ? setTimeout(sendInTime, EVENT_MS) : null;
  }

  return {
    flush(): void {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      while (send());
    },
    add(stream: Stream, offset: number, length: number): void {
      if (onOutput === undefined || length === 0) return;
      waiting[stream].add(offset, length);
      timer ??= setTimeout(sendInTime, EVENT_MS);
    },
  };
}

/** Where the newest 64 KB of one stream stand in the log. */
function createWaiting() {
  let pieces: { offset: number; length: number }[] = [];
  let total = 0;
  return {
    add(offset: number, length: number): void {
      const last = pieces.at(-1);
      if (last !== undefined && last.offset + last.length === offset) last.length += length;
      else pieces.push({ offset, length });
      total += length;
      for (let old = pieces[0]; old !== undefined && total - old.length >= EVENT_BYTES; old = pieces[0]) {
        total -= old.length;
        pieces.shift();
      }
    },
    isWaiting: () => total > 0,
    take(): { offset: number; length: number } {
      const length = Math.min(total, EVENT_BYTES);
      const offset = (pieces[0]?.offset ?? 0) + total - length;
      pieces = [];
      total = 0;
      return { offset, length };
    },
  };
}
