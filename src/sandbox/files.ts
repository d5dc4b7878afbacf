import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

let counter = 0;

/** A name that no other file of this process in any folder has. */
export function freshName(kind: string): string {
  return `${kind}-${process.pid}-${++counter}`;
}

/** A file that is gone when its descriptor is closed; whoever reads it next begins at its start. */
export function namelessFile(folder: string, content: Uint8Array | string = ''): number {
  const path = join(folder, freshName('file'));
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    unlinkSync(path);
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** For this user. Most places that are asked about do not exist, and an exception for each would cost. */
export function isExecutable(path: string): boolean {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** None when the folder cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Null for what is not there, such as a link that leads nowhere. */
export function realPath(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/**
 * What the kernel says in a file of its own; null when it cannot be read. Cut off where it is longer than any that a
 * program does not stretch on purpose, as it can its environment.
 */
export function readText(path: string): string | null {
  try {
    let text = '';
    for (const part of partsOf(path)) {
      text += part;
      if (text.length > LONGEST_TEXT) break;
    }
    return text;
  } catch {
    return null;
  }
}

const LONGEST_TEXT = 8 * 1024 * 1024;
const part = Buffer.allocUnsafe(64 * 1024);

/** The same, as much at a time as the system gives. Throws what the system throws. */
export function* partsOf(path: string): Generator<string> {
  const file = openSync(path, 'r');
  try {
    for (let size = readSync(file, part); size > 0; size = readSync(file, part)) yield part.toString('latin1', 0, size);
  } finally {
    closeSync(file);
  }
}
