import { isUtf8 } from 'node:buffer';
import { closeSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { errnoOf } from '../../host/errno.ts';
import { MAX_WHOLE_BYTES, type OpenFile, readWhole } from '../../host/open-file.ts';
import type { GrepLine } from '../../kernel/world/workspace.ts';
import { openAt } from '../read/content-at.ts';
import { decodeText } from '../read/decode-text.ts';
import type { Decoder } from './grep-hits.ts';
import type { Searcher } from './search-scope.ts';

export interface LinesOfFile {
  readonly path: string;
  readonly lines: readonly GrepLine[];
}

/**
 * On the host a swapped link may have led ripgrep outside: of the lines it gives for a file, only those are kept that
 * stand in the file, opened our way.
 */
export async function recheckLines(
  { root, signal }: Searcher,
  { path, lines }: LinesOfFile,
  decode: Decoder,
): Promise<readonly GrepLine[]> {
  const file = lines.length === 0 ? null : openAt(root, path);
  if (file === null) return [];
  try {
    const isIn = file.stat.size > MAX_WHOLE_BYTES ? await byNumber(file, lines, { decode, signal }) : byText(file);
    return lines.filter(isIn);
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return [];
  } finally {
    closeSync(file.fd);
  }
}

type IsIn = (line: GrepLine) => boolean;

function byText(file: OpenFile): IsIn {
  const text = textOf(readWhole(file, MAX_WHOLE_BYTES));
  return (line) => text.includes(bare(line));
}

/** A file that is too large to be held. Newlines are found as bytes, which UTF-16 does not allow: its beginning will do. */
async function byNumber(
  file: OpenFile,
  lines: readonly GrepLine[],
  { decode, signal }: { decode: Decoder; signal: AbortSignal },
): Promise<IsIn> {
  const start = readWhole(file, 2);
  if (UTF16_MARKS.has(start.toString('hex'))) return byText(file);
  const numbers = new Set(lines.map(({ line }) => line));
  const found = await linesAt(file, numbers, signal);
  return (line) => {
    const bytes = found.get(line.line) ?? Buffer.alloc(0);
    const text = isUtf8(bytes) ? bytes.toString('utf8') : decode(line.path, bytes);
    return found.has(line.line) && text.includes(bare(line));
  };
}

const UTF16_MARKS = new Set(['fffe', 'feff']);

/** Without the marks of where it was cut. */
function bare({ text }: GrepLine): string {
  return text.replace(/^…|…$/g, '');
}

function textOf(bytes: Buffer): string {
  const decoded = decodeText(bytes);
  return decoded.ok && decoded.value !== null ? decoded.value.text : bytes.toString('latin1');
}

const readInto = promisify(read);
const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
/** Of all lines together. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Some lines of a file of any size, by their numbers from 1, in one pass. Lines that would take too much memory are left out. */
async function linesAt(
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
