import { closeSync, readSync } from 'node:fs';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { BinaryFile, FileBytes, LineWindow, TextFile, WindowQuery } from '../kernel/world/workspace.ts';
import { decodeText, sniffEncoding } from './read/decode-text.ts';
import { guardedLater } from '../host/errno.ts';
import type { Contents } from './file-content.ts';
import { holdsGitCredential } from './git-credential.ts';
import { readLines } from './read/line-window.ts';
import { mimeTypeOf } from './mime-type.ts';
import { infoOf, type OpenFile, openFile, readWhole, WHOLE_BYTES } from '../host/open-file.ts';
import { shown } from '../host/parse-path.ts';
import type { Place } from './workspace-root.ts';
import { holdsPrivateKey } from './private-key.ts';
import type { SecretInodes } from './secret-inodes.ts';
import { shownWindow, windowOf } from './text-window.ts';
import { digestOf, digestOfFile, versionOf } from './version.ts';

/** Largest text that is held in memory as a whole, for editing. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

export interface Reader {
  readonly place: Place;
  readonly secrets: SecretInodes;
  readonly signal: AbortSignal;
  readonly contents: Contents;
}

export function readWindow(reader: Reader, path: string, query: WindowQuery): Promise<Result<LineWindow | BinaryFile>> {
  return withFile(reader, path, async (file, real) => {
    if (file.stat.size > WHOLE_BYTES) return largeWindow(reader, file, real, query);
    const bytes = readWhole(file, WHOLE_BYTES);
    const info = infoOf(real, file.stat);
    const withheld = secretWithheld(real, bytes);
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
    const content = reader.contents.of(readWhole(file, MAX_TEXT_BYTES));
    const { bytes } = content;
    const withheld = secretWithheld(real, bytes);
    if (withheld !== undefined) return withheld;
    const { decoded } = content;
    if (!decoded.ok) return named(decoded, real);
    if (decoded.value === null) {
      return fail('INVALID_INPUT', `${shown(real)} is a binary file (${mimeTypeOf(bytes)}), not text.`);
    }
    return ok({
      ...infoOf(real, file.stat),
      ...decoded.value,
      mode: file.stat.mode & 0o7777,
      version: versionOf(content.digest),
    });
  });
}

export function readBytes(reader: Reader, path: string, maxBytes: number): Promise<Result<FileBytes>> {
  return withFile(reader, path, async (file, real) => {
    if (file.stat.size > maxBytes) return tooLarge(real, file.stat.size, maxBytes);
    const bytes = readWhole(file, maxBytes);
    const withheld = secretWithheld(real, bytes);
    if (withheld !== undefined) return withheld;
    const version = versionOf(digestOf(bytes));
    return ok({ ...infoOf(real, file.stat), bytes, mimeType: mimeTypeOf(bytes), version });
  });
}

async function withFile<T>(
  { place, secrets }: Reader,
  path: string,
  work: (file: OpenFile, real: string) => Promise<Result<T>>,
): Promise<Result<T>> {
  const located = place.locate(path, { last: 'follow' });
  if (!located.ok) return located;
  const spot = located.value;
  return guardedLater(path, async () => {
    let file: Result<OpenFile>;
    try {
      file = openFile(spot);
    } finally {
      spot.folder.close();
    }
    if (!file.ok) return file;
    try {
      return (await secrets.refuses(spot.path, file.value.stat)) ?? (await work(file.value, spot.path));
    } finally {
      closeSync(file.value.fd);
    }
  });
}

async function largeWindow(
  { signal }: Reader,
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
  if (encoding.startsWith('utf-16')) return tooLarge(path, stat.size, WHOLE_BYTES);
  const raw = await readLines(fd, stat.size, query, signal);
  if (raw.lines.length === 0 && raw.totalLines !== null) return pastEnd(path, raw.totalLines);
  if (raw.lines.some(({ bytes }) => bytes.includes('PRIVATE KEY-----'))) return keyWithheld(path);
  const window = shownWindow(raw, encoding, query);
  const content = raw.first === 1 && form.value.bom ? window.content.replace(/^\ufeff/, '') : window.content;
  const version = query.withVersion === true ? versionOf(await digestOfFile(fd, signal)) : null;
  return ok({ ...info, ...window, content, encoding, version });
}

function pastEnd(path: string, totalLines: number): Result<never> {
  const message = `${shown(path)} has only ${totalLines} lines; use an offset up to ${totalLines}.`;
  return fail('INVALID_INPUT', message, { totalLines });
}

function tooLarge(path: string, size: number, most: number): Result<never> {
  const message = `${shown(path)} has ${size} bytes, more than the ${most} that can be handled at once. Read a window of it with offset and limit, or use a command.`;
  return fail('TOO_LARGE', message, { size, most });
}

function secretWithheld(path: string, bytes: Buffer): Result<never> | undefined {
  if (holdsPrivateKey(bytes)) return keyWithheld(path);
  if (!holdsGitCredential(path, bytes)) return undefined;
  const message = `${shown(path)} holds a credential, such as a password in the address of a remote: tools cannot use it. Ask for single settings with git config --get.`;
  return fail('PERMISSION_DENIED', message, { path: shown(path) });
}

function keyWithheld(path: string): Result<never> {
  return fail('PERMISSION_DENIED', `${shown(path)} holds a private key: tools cannot use it.`, { path: shown(path) });
}

function named(
  failure: Result<never> | { readonly ok: false; readonly error: { message: string } },
  path: string,
): Result<never> {
  if (failure.ok) return failure;
  return fail('INVALID_INPUT', `${shown(path)}: ${failure.error.message}`, { path: shown(path) });
}
