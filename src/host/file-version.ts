import { createHash, hash } from 'node:crypto';
import { read, type Stats } from 'node:fs';
import { promisify } from 'node:util';
import { INDEX_NAME, indexContent } from './git-index.ts';

const readInto = promisify(read);
const CHUNK_BYTES = 1024 * 1024;

/** The hash of the content, as journals and blob stores know it. */
export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/**
 * The hashes by which a file is known: first that of its content; of an index of git, last that of what it says, which a
 * `git status` leaves as it is. Comparisons accept each of them, and what is compared later is the last.
 */
export function digestsOf(name: string, bytes: Buffer): readonly [exact: string, ...said: string[]] {
  const said = name === INDEX_NAME ? indexContent(bytes) : null;
  return said === null ? [digestOf(bytes)] : [digestOf(bytes), digestOf(said)];
}

/** The hash of the content of a file of any size, in little memory. */
export async function digestOfFile(fd: number, signal?: AbortSignal): Promise<string> {
  const sum = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; ; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await readInto(fd, chunk, 0, chunk.length, position);
    if (bytesRead === 0) return sum.digest('hex');
    sum.update(chunk.subarray(0, bytesRead));
    position += bytesRead;
  }
}

/** A larger file is known by its size and time: to hash it would take longer than anybody waits, and of 1 TB no disk need hold a byte. */
export const MAX_HASHED_BYTES = 1024 * 1024 * 1024;

/** The version of a file that is too much to hash. A version says by itself of which kind it is. */
export function timesVersion({ size, mtimeMs }: Pick<Stats, 'size' | 'mtimeMs'>): string {
  return `${BY_TIMES}${size} bytes of ${mtimeMs}`;
}

export function isTimesVersion(version: string): boolean {
  return version.startsWith(BY_TIMES);
}

const BY_TIMES = '~';

/** The version that callers see: short enough for a model to repeat, long enough not to collide by chance. */
export function versionOf(digest: string): string {
  return digest.slice(0, 16);
}
