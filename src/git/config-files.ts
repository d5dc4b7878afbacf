import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import type { GitFileReader } from './obeyed-paths.ts';

const MAX_FILE_BYTES = 1024 * 1024;

/** Reads git's files from the disk. A file is read again only when it changed. */
export class GitConfigFiles implements GitFileReader {
  readonly #texts = new Map<string, { readonly stamp: string; readonly text: string }>();

  read(file: string): string {
    const stat = statOf(file);
    if (!stat?.isFile() || stat.size > MAX_FILE_BYTES) return '';
    const stamp = `${stat.ino}:${stat.size}:${stat.ctimeMs}`;
    const known = this.#texts.get(file);
    if (known?.stamp === stamp) return known.text;
    try {
      const text = readFileSync(file, 'utf8');
      this.#texts.set(file, { stamp, text });
      return text;
    } catch {
      return '';
    }
  }

  kindAt(path: string): 'directory' | 'other' | null {
    const stat = statOf(path);
    if (stat === undefined) return null;
    return stat.isDirectory() ? 'directory' : 'other';
  }

  realPath(path: string): string {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
