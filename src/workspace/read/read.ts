import { closeSync, readSync } from 'node:fs';
import { catchErrnoAsync } from '../../host/errno.ts';
import { digestOf, digestOfFile, versionOf } from '../../host/file-version.ts';
import { infoOf, MAX_WHOLE_BYTES, type OpenFile, openFile, readWhole } from '../../host/open-file.ts';
import { shortPath } from '../../host/parse-path.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { BinaryFile, FileBytes, LineWindow, TextFile, WindowQuery } from '../../kernel/world/workspace.ts';
import type { SecretHardLinks } from '../../secrets/secret-hard-links.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import { decodeAs, decodeText, sniffEncoding } from './decode-text.ts';
import { FileContent } from './file-content.ts';
import type { RawWindow } from './line-window.ts';
import { readLines } from './line-window.ts';
import { secretWithheld, windowWithheld } from './secret-withheld.ts';

/** Largest text that is held in memory as a whole, for editing. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

export interface Reader {
  readonly root: WorkspaceRoot;
  readonly secrets: SecretHardLinks;
  readonly signal: AbortSignal;
}

export function readWindow(reader: Reader, path: string, query: WindowQuery): Promise<Result<LineWindow | BinaryFile>> {
  return withFile(reader, path, async (file, real) => {
    if (file.stat.size > MAX_WHOLE_BYTES) return largeWindow(reader, file, real, query);
    const bytes = readWhole(file, MAX_WHOLE_BYTES);
    const info = infoOf(real, file.stat);
    const withheld = secretWithheld(reader.root, real, bytes);
    if (withheld !== undefined) return withheld;
    const decoded = decodeText(bytes);
    if (!decoded.ok) return named(decoded, real);
    if (decoded.value === null) return ok({ ...info, binary: true, mimeType: mimeTypeOf(bytes) });
    const window = windowOf(decoded.value.text, query);
    if (!('content' in window)) return pastEnd(real, window.totalLines);
    return ok({ ...info, ...window, encoding: decoded.value.encoding, version: versionOf(digestOf(bytes)) });
  });
}

export function readText(reader: Reader, path: string): Promise<Result<TextFile>> {
  return withFile(reader, path, async (file, real) => {
    if (file.stat.size > MAX_TEXT_BYTES) return tooLarge(real, file.stat.size, MAX_TEXT_BYTES);
    const content = new FileContent(readWhole(file, MAX_TEXT_BYTES));
    const { bytes } = content;
    const withheld = secretWithheld(reader.root, real, bytes);
    if (withheld !== undefined) return withheld;
    const { decoded } = content;
    if (!decoded.ok) return named(decoded, real);
    if (decoded.value === null) {
      return fail('INVALID_INPUT', `${shortPath(real)} is a binary file (${mimeTypeOf(bytes)}), not text.`);
    }
    return ok({
      ...infoOf(real, file.stat),
      ...decoded.value,
      mode: file.stat.mode & 0o7777,
      version: versionOf(content.digest),
      content,
    });
  });
}

export function readBytes(reader: Reader, path: string, maxBytes: number): Promise<Result<FileBytes>> {
  return withFile(reader, path, async (file, real) => {
    if (file.stat.size > maxBytes) return tooLarge(real, file.stat.size, maxBytes);
    const bytes = readWhole(file, maxBytes);
    const withheld = secretWithheld(reader.root, real, bytes);
    if (withheld !== undefined) return withheld;
    const version = versionOf(digestOf(bytes));
    return ok({ ...infoOf(real, file.stat), bytes, mimeType: mimeTypeOf(bytes), version });
  });
}

async function withFile<T>(
  { root, secrets }: Reader,
  path: string,
  work: (file: OpenFile, real: string) => Promise<Result<T>>,
): Promise<Result<T>> {
  const located = root.locate(path, { last: 'follow' });
  if (!located.ok) return located;
  const spot = located.value;
  return catchErrnoAsync(path, async () => {
    let file: Result<OpenFile>;
    try {
      file = openFile(spot);
    } finally {
      spot.folder.close();
    }
    if (!file.ok) return file;
    try {
      return (await secrets.refuseReading(spot.path, file.value.stat)) ?? (await work(file.value, spot.path));
    } finally {
      closeSync(file.value.fd);
    }
  });
}

async function largeWindow(
  { root, signal }: Reader,
  file: OpenFile,
  path: string,
  query: WindowQuery,
): Promise<Result<LineWindow | BinaryFile>> {
  const { fd, stat } = file;
  const head = Buffer.alloc(64 * 1024);
  const form = sniffEncoding(head.subarray(0, readSync(fd, head, 0, head.length, 0)));
  if (!form.ok) return named(form, path);
  const info = infoOf(path, stat);
  if (form.value === null) return ok({ ...info, binary: true, mimeType: mimeTypeOf(head) });
  const { encoding } = form.value;
  if (encoding.startsWith('utf-16')) return tooLarge(path, stat.size, MAX_WHOLE_BYTES);
  const raw = await readLines(fd, stat.size, query, signal);
  if (raw.lines.length === 0 && raw.totalLines !== null) return pastEnd(path, raw.totalLines);
  const withheld = windowWithheld(root, path, { fd, raw });
  if (withheld !== undefined) return withheld;
  const window = shownWindow(raw, encoding, query);
  const content = raw.first === 1 && form.value.bom ? window.content.replace(/^\ufeff/, '') : window.content;
  const version = query.withVersion === true ? versionOf(await digestOfFile(fd, signal)) : null;
  return ok({ ...info, ...window, content, encoding, version });
}

function pastEnd(path: string, totalLines: number): Result<never> {
  const message = `${shortPath(path)} has only ${totalLines} lines; use an offset up to ${totalLines}.`;
  return fail('INVALID_INPUT', message, { totalLines });
}

function tooLarge(path: string, size: number, most: number): Result<never> {
  const message = `${shortPath(path)} has ${size} bytes, more than the ${most} that can be handled at once. Read a window of it with offset and limit, or use a command.`;
  return fail('TOO_LARGE', message, { size, most });
}

function named(
  failure: Result<never> | { readonly ok: false; readonly error: { message: string } },
  path: string,
): Result<never> {
  if (failure.ok) return failure;
  return fail('INVALID_INPUT', `${shortPath(path)}: ${failure.error.message}`, { path: shortPath(path) });
}

const MAGIC: readonly [mimeType: string, offset: number, bytes: string][] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['image/bmp', 0, 'BM'],
  ['application/pdf', 0, '%PDF-'],
  ['application/zip', 0, 'PK\x03\x04'],
  ['application/gzip', 0, '\x1f\x8b'],
  ['application/wasm', 0, '\0asm'],
  ['application/x-executable', 0, '\x7fELF'],
  ['application/vnd.sqlite3', 0, 'SQLite format 3\0'],
];

/** Told from the first bytes, never from the name. */
function mimeTypeOf(head: Buffer): string {
  const found = MAGIC.find(
    ([, offset, bytes]) => head.subarray(offset, offset + bytes.length).toString('latin1') === bytes,
  );
  return found?.[0] ?? 'application/octet-stream';
}

type ShownLines = Pick<LineWindow, 'content' | 'first' | 'lines' | 'totalLines' | 'more' | 'cutLines'>;

/** A window of a text that is in memory. Undefined when the offset lies past the end. */
function windowOf(text: string, query: WindowQuery): ShownLines | { totalLines: number } {
  const starts = lineStarts(text);
  const total = starts.length;
  const first = query.offset < 0 ? Math.max(1, total + query.offset + 1) : Math.max(1, query.offset);
  if (first > Math.max(1, total)) return { totalLines: total };
  const pieces: string[] = [];
  let bytes = 0;
  let cutLines = 0;
  let next = first - 1;
  for (; next < total && pieces.length < query.limit && (bytes < query.maxBytes || pieces.length === 0); next++) {
    const line = text.slice(starts[next], starts[next + 1]);
    const piece = cutLine(line, query.maxLineChars);
    if (piece !== line) cutLines++;
    bytes += Buffer.byteLength(piece);
    pieces.push(piece);
  }
  return {
    content: pieces.join(''),
    first,
    lines: pieces.length,
    totalLines: total,
    more: next < total,
    cutLines,
  };
}

/** The same for lines that were read from a large file. */
function shownWindow(raw: RawWindow, encoding: string, query: WindowQuery): ShownLines {
  let cutLines = 0;
  const pieces = raw.lines.map(({ bytes, length }) => {
    const line = decodeAs(bytes, encoding);
    const piece = cutLine(line, query.maxLineChars, length);
    if (piece !== line) cutLines++;
    return piece;
  });
  const { first, totalLines, more } = raw;
  return { content: pieces.join(''), first, lines: pieces.length, totalLines, more, cutLines };
}

function lineStarts(text: string): number[] {
  const starts: number[] = [];
  for (let at = 0; at < text.length; ) {
    starts.push(at);
    const newline = text.indexOf('\n', at);
    at = newline < 0 ? text.length : newline + 1;
  }
  return starts;
}

function cutLine(line: string, maxChars: number, bytes = 0): string {
  const ending = /\r?\n$/.exec(line)?.[0] ?? '';
  const body = line.length - ending.length;
  if (body <= maxChars) return line;
  const end = /[\ud800-\udbff]/.test(line[maxChars - 1] ?? '') ? maxChars - 1 : maxChars;
  const length = bytes > line.length ? `${bytes} bytes` : `${body} characters`;
  return `${line.slice(0, end)}… [line of ${length}, cut]${ending || '\n'}`;
}
