import { closeSync } from 'node:fs';
import { errnoOf } from '../host/errno.ts';
import { openFile, readWhole } from '../host/open-file.ts';
import type { ResolvedPath } from '../host/walk-path.ts';
import { isPublicContent, MAX_PUBLIC_BYTES } from './public-content.ts';

const MAX_KNOWN = 1000;

/** Answers whether a file with the name of a secret holds none, and remembers it until the file changes. */
export class PublicFiles {
  readonly #known = new Map<string, boolean>();

  has(spot: ResolvedPath): boolean {
    const { stat } = spot;
    if (stat?.isFile() !== true || stat.size > MAX_PUBLIC_BYTES) return false;
    const key = `${stat.dev}:${stat.ino}:${stat.size}:${stat.ctimeMs}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const isPublic = isPublicNow(spot);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(key, isPublic);
    return isPublic;
  }
}

function isPublicNow(spot: ResolvedPath): boolean {
  try {
    const opened = openFile(spot);
    if (!opened.ok) return false;
    try {
      return opened.value.stat.size <= MAX_PUBLIC_BYTES && isPublicContent(readWhole(opened.value, MAX_PUBLIC_BYTES));
    } finally {
      closeSync(opened.value.fd);
    }
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return false;
  }
}
