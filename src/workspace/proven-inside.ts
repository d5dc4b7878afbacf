import { isUtf8 } from 'node:buffer';
import { closeSync } from 'node:fs';
import type { GrepLine } from '../kernel/world/workspace.ts';
import { openAt } from './content-at.ts';
import { decodeText } from './read/decode-text.ts';
import { errnoOf } from '../host/errno.ts';
import type { Decoder } from './search/grep-hits.ts';
import { linesAt } from './lines-at.ts';
import { type OpenFile, readWhole, WHOLE_BYTES } from '../host/open-file.ts';
import type { Searcher } from './search/search-scope.ts';

export interface LinesOfFile {
  readonly path: string;
  readonly lines: readonly GrepLine[];
}

/**
 * On the host a swapped link may have led ripgrep outside: of the lines it gives for a file, only those are kept that
 * stand in the file, opened our way.
 */
export async function provenInside(
  { place, signal }: Searcher,
  { path, lines }: LinesOfFile,
  decode: Decoder,
): Promise<readonly GrepLine[]> {
  const file = lines.length === 0 ? null : openAt(place, path);
  if (file === null) return [];
  try {
    const isIn = file.stat.size > WHOLE_BYTES ? await byNumber(file, lines, { decode, signal }) : byText(file);
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
  const text = textOf(readWhole(file, WHOLE_BYTES));
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
