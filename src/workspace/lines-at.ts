import { read } from 'node:fs';
import { promisify } from 'node:util';
import type { OpenFile } from '../host/open-file.ts';

const readInto = promisify(read);
const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
/** Of all lines together. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Some lines of a file of any size, by their numbers from 1, in one pass. What would take too much is left out. */
export async function linesAt(
  { fd, stat }: OpenFile,
  numbers: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Buffer>> {
  const parts = new Map<number, Buffer[]>();
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let line = 1;
  let left = numbers.size;
  let room = MAX_BYTES;
  for (let position = 0; position < stat.size && left > 0 && room > 0; ) {
    signal.throwIfAborted();
    const { bytesRead } = await readInto(fd, chunk, 0, chunk.length, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    for (let start = 0; start < bytesRead && left > 0; ) {
      const newline = chunk.subarray(0, bytesRead).indexOf(NEWLINE, start);
      const end = newline < 0 ? bytesRead : newline + 1;
      if (numbers.has(line)) {
        parts.set(line, [...(parts.get(line) ?? []), Buffer.from(chunk.subarray(start, end))]);
        room -= end - start;
        if (newline >= 0) left--;
      }
      if (newline >= 0) line++;
      start = end;
    }
  }
  return new Map([...parts].map(([number, each]) => [number, Buffer.concat(each)]));
}
