import {
  accessSync,
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

let counter = 0;

/** Returns a name that no other file of this process has, in any folder. */
export function uniqueName(kind: string): string {
  return `${kind}-${process.pid}-${++counter}`;
}

/** Creates a file without a name, which is gone when its descriptor is closed. Reading begins at its start. */
export function createUnlinkedFile(folder: string, content: Uint8Array | string = ''): number {
  const path = join(folder, uniqueName('file'));
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

/** Whether this user may execute a file. Most paths that are tried do not exist, so that case throws no exception. */
export function isExecutable(path: string): boolean {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns no names when the folder cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns no entries when the folder cannot be read. */
export function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Of the name itself. Undefined when there is nothing, or nothing that we may look at. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Null for a path that leads nowhere, such as that of a dangling symlink. */
export function realPath(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/**
 * Reads a file of the kernel, such as one in /proc; null when it cannot be read. Cuts off a text of a length that only
 * a program that stretches its environment on purpose gives it.
 */
export function readText(path: string): string | null {
  try {
    let text = '';
    for (const part of readChunks(path)) {
      text += part;
      if (text.length > MAX_TEXT_CHARS) break;
    }
    return text;
  } catch {
    return null;
  }
}

const MAX_TEXT_CHARS = 8 * 1024 * 1024;
const part = Buffer.allocUnsafe(64 * 1024);

/** Reads such a file in chunks, as large as the system gives them. Throws what the system throws. */
export function* readChunks(path: string): Generator<string> {
  const file = openSync(path, 'r');
  try {
    for (let size = readSync(file, part); size > 0; size = readSync(file, part)) yield part.toString('latin1', 0, size);
  } finally {
    closeSync(file);
  }
}
