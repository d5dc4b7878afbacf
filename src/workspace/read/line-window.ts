import { read } from 'node:fs';
import { promisify } from 'node:util';
import type { WindowQuery } from '../../kernel/world/workspace.ts';

const readInto = promisify(read);
const CHUNK_BYTES = 1024 * 1024;
const TAIL_CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Lines as bytes, each with its ending; long ones cut, with how long they were. */
export interface RawLine {
  readonly bytes: Buffer;
  readonly length: number;
}

export interface RawWindow {
  readonly lines: readonly RawLine[];
  /** Counted from 1, or negative from the end. */
  readonly first: number;
  readonly more: boolean;
  /** Where in the file the lines begin and end, in bytes. */
  readonly start: number;
  readonly end: number;
  /** Null when the end was not reached. */
  readonly totalLines: number | null;
}

/**
 * A window of a file of any size, in memory of the size of the window. From the start it reads up to the window's end;
 * from the end it reads backwards. Newlines are found as bytes, which every supported encoding but UTF-16 allows.
 */
export function readLines(fd: number, size: number, query: WindowQuery, signal: AbortSignal): Promise<RawWindow> {
  return query.offset < 0 ? fromEnd(fd, size, query, signal) : fromStart(fd, size, query, signal);
}

async function fromStart(fd: number, size: number, query: WindowQuery, signal: AbortSignal): Promise<RawWindow> {
  const wanted = Math.max(1, query.offset);
  const collect = collector(query);
  const chunk = Buffer.allocUnsafe(Math.min(size, CHUNK_BYTES));
  let line = 1;
  let position = 0;
  let shownFrom = size;
  while (position < size) {
    signal.throwIfAborted();
    const { bytesRead } = await readInto(fd, chunk, 0, Math.min(chunk.length, size - position), position);
    if (bytesRead === 0) break;
    position += bytesRead;
    let start = 0;
    while (start < bytesRead) {
      if (collect.isFull()) {
        const range = { start: shownFrom, end: position - bytesRead + start };
        return { lines: collect.lines(), ...range, first: wanted, more: true, totalLines: null };
      }
      const newline = chunk.subarray(0, bytesRead).indexOf(NEWLINE, start);
      const end = newline < 0 ? bytesRead : newline + 1;
      if (line >= wanted) shownFrom = Math.min(shownFrom, position - bytesRead + start);
      if (line >= wanted) collect.add(chunk.subarray(start, end), newline >= 0);
      if (newline >= 0) line++;
      start = end;
    }
  }
  const total = line - 1 + (collect.isOpen() || (await endsOpen(fd, position)) ? 1 : 0);
  return { lines: collect.lines(), start: shownFrom, end: position, first: wanted, more: false, totalLines: total };
}

async function fromEnd(fd: number, size: number, query: WindowQuery, signal: AbortSignal): Promise<RawWindow> {
  const count = -query.offset;
  let position = size;
  let found = 0;
  let start = 0;
  const scanned: Buffer[] = [];
  let kept = 0;
  scan: while (position > 0) {
    signal.throwIfAborted();
    const length = Math.min(TAIL_CHUNK_BYTES, position);
    const chunk = Buffer.allocUnsafe(length);
    await readInto(fd, chunk, 0, length, position - length);
    position -= length;
    for (let at = chunk.lastIndexOf(NEWLINE); at >= 0; at = at === 0 ? -1 : chunk.lastIndexOf(NEWLINE, at - 1)) {
      if (position + at === size - 1) continue;
      if (++found < count) continue;
      start = position + at + 1;
      scanned.unshift(chunk.subarray(at + 1));
      break scan;
    }
    scanned.unshift(chunk);
    kept += length;
    // A line that never ends: what is shown is its last part.
    if (kept > query.maxBytes * 4 + CHUNK_BYTES) {
      start = position;
      break;
    }
  }
  const collect = collector(query);
  const text = Buffer.concat(scanned);
  let at = 0;
  while (at < text.length && !collect.isFull()) {
    const newline = text.indexOf(NEWLINE, at);
    const end = newline < 0 ? text.length : newline + 1;
    collect.add(text.subarray(at, end), newline >= 0);
    at = end;
  }
  const lines = collect.lines();
  const available = found < count ? found + (size > 0 ? 1 : 0) : count;
  const whole = start === 0;
  return {
    ...{ lines, start, end: start + at },
    first: whole ? 1 : -available,
    more: lines.length < available,
    totalLines: whole ? available : null,
  };
}

async function endsOpen(fd: number, size: number): Promise<boolean> {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  await readInto(fd, last, 0, 1, size - 1);
  return last[0] !== NEWLINE;
}

/** Gathers lines until the window is full. A line may come in several parts. */
function collector({ limit, maxBytes, maxLineChars }: WindowQuery) {
  // Four bytes hold any character of any supported encoding.
  const maxLineBytes = maxLineChars * 4;
  const lines: RawLine[] = [];
  let parts: Buffer[] = [];
  let kept = 0;
  let length = 0;
  let total = 0;
  let open = false;

  function finish(): void {
    lines.push({ bytes: Buffer.concat(parts), length });
    total += kept;
    parts = [];
    kept = 0;
    length = 0;
    open = false;
  }

  return {
    isFull: () => !open && (lines.length >= limit || (lines.length > 0 && total >= maxBytes)),
    isOpen: () => open,
    add(bytes: Buffer, ended: boolean): void {
      const room = maxLineBytes - kept;
      if (room > 0) {
        parts.push(Buffer.from(bytes.subarray(0, room)));
        kept += Math.min(room, bytes.length);
      }
      length += bytes.length;
      open = true;
      if (ended) finish();
    },
    lines(): readonly RawLine[] {
      if (open) finish();
      return lines;
    },
  };
}
