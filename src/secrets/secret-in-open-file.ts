import { readSync } from 'node:fs';
import type { Yielder } from '../kernel/yielding.ts';
import { MAX_KEY_LENGTH } from './content/private-keys.ts';
import { PRIVATE_KEY } from './find-secrets.ts';
import { secretIn } from './secret-in-file.ts';

/** So much is looked into between two checks whether other work should run. */
const WINDOW_BYTES = 256 * 1024;
/** Of a larger file only as much at its beginning and at its end is looked into: what a command prints of the rest is looked through. */
const MAX_WHOLE_BYTES = 1024 ** 3;
const END_BYTES = 32 * 1024 ** 2;
const BYTE_ORDER_MARKS = [Buffer.of(0xff, 0xfe), Buffer.of(0xfe, 0xff)];

export interface OpenedContent {
  readonly fd: number;
  readonly size: number;
  /** Relative to the workspace: the name tells how a doubtful value is read. */
  readonly path: string;
}

/**
 * Returns the kind of the first secret in an open file, or null. A private key comes before all others. It is looked into window
 * by window, so that its length costs neither memory nor a long pause.
 */
export async function secretInOpenFile({ fd, size, path }: OpenedContent, yielder: Yielder): Promise<string | null> {
  let found: string | null = null;
  let mark: Buffer | null = null;
  const buffer = Buffer.allocUnsafe(Math.min(size, WINDOW_BYTES + 2 * MAX_KEY_LENGTH));
  for (let at = 0; at < size; at = nextWindow(at, size)) {
    const from = Math.max(0, at - MAX_KEY_LENGTH);
    const window = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from));
    if (window.length === 0) break;
    if (yielder.isDue()) await yielder.pause();
    if (isEmpty(window)) continue;
    if (at === 0) mark = BYTE_ORDER_MARKS.find((each) => window.subarray(0, 2).equals(each)) ?? null;
    // Only the beginning of a file says that its characters are wide.
    const secret = secretIn(path, at === 0 || mark === null ? window : Buffer.concat([mark, window]))?.name;
    if (secret === PRIVATE_KEY) return secret;
    found ??= secret ?? null;
  }
  return found;
}

function nextWindow(at: number, size: number): number {
  const next = at + WINDOW_BYTES;
  const isPassed = size > MAX_WHOLE_BYTES && next > END_BYTES && next < size - END_BYTES;
  return isPassed ? size - END_BYTES : next;
}

const ZEROS = Buffer.alloc(WINDOW_BYTES);

/** Whether there is nothing in it, as in a hole of a sparse file. */
function isEmpty(window: Buffer): boolean {
  for (let at = 0; at < window.length; at += ZEROS.length) {
    const part = window.subarray(at, at + ZEROS.length);
    if (!part.equals(ZEROS.subarray(0, part.length))) return false;
  }
  return true;
}
