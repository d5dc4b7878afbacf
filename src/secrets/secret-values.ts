import { closeSync } from 'node:fs';
import { gitCredentialsIn, isGitConfig } from '../git/credentials.ts';
import { errnoOf } from '../host/errno.ts';
import type { Folder } from '../host/folder.ts';
import { openFile, readWhole } from '../host/open-file.ts';
import { visitTree } from '../host/visit-tree.ts';
import { decodedForms, encodedForms } from './secret-encodings.ts';
import type { PolicedTree } from './secret-hard-links.ts';

const FRESH_MS = 2000;
const MAX_FILE_BYTES = 64 * 1024;
const MAX_FILES = 100;
const MAX_VALUES = 2000;
const MIN_VALUE_LENGTH = 8;

/** Knows the values in sensitive files and the credentials in git's, to detect one on its way out. They never leave this object. */
export class SecretValues {
  readonly #tree: PolicedTree;
  #known: { at: number; values: Promise<ReadonlyMap<string, string>> } | undefined;

  constructor(tree: PolicedTree) {
    this.#tree = tree;
  }

  /** The sensitive file one of whose values stands in the text, in one of the usual encodings. */
  async foundIn(text: string): Promise<string | null> {
    if (this.#known === undefined || performance.now() - this.#known.at > FRESH_MS) {
      this.#known = { at: performance.now(), values: this.#find() };
    }
    const values = await this.#known.values;
    if (values.size === 0) return null;
    const readings = decodedForms(text);
    for (const [value, path] of values) {
      if (encodedForms(value).some((spelling) => readings.some((each) => each.includes(spelling)))) return path;
    }
    return null;
  }

  async #find(): Promise<ReadonlyMap<string, string>> {
    const { policy, folder: top } = this.#tree;
    const values = new Map<string, string>();
    let files = 0;
    await visitTree(top, ({ folder, name, type }) => {
      const path = folder.pathOf(name);
      const isGit = isGitConfig(path);
      if (type !== 'file' || (!isGit && policy.judgeEntry(folder.path, name).access !== 'hidden')) return 'enter';
      const content = contentOf(folder, name);
      const known = values.size;
      for (const value of isGit ? longEnough(gitCredentialsIn(content)) : valuesIn(content)) values.set(value, path);
      // Git's files come first and may be many, one for each submodule: those without a new value must not use up the limit.
      if (!isGit || values.size > known) files++;
      return files < MAX_FILES && values.size < MAX_VALUES ? 'enter' : 'stop';
    });
    return values;
  }
}

function longEnough(values: readonly string[]): readonly string[] {
  return values.filter((value) => value.length >= MIN_VALUE_LENGTH);
}

/** Returns values after = or :, except those that are no secret: words, numbers, paths, addresses of pages. */
function valuesIn(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const found = /^\s*(?:export\s+)?["']?[\w.-]+["']?\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|([^\s#,]+))/.exec(line);
    const value = (found?.[1] ?? found?.[2] ?? found?.[3] ?? '').trim();
    return value.length >= MIN_VALUE_LENGTH && !isOrdinary(value) ? [value] : [];
  });
}

function isOrdinary(value: string): boolean {
  return /^[a-z]+$/i.test(value) || /^[\d.,:-]+$/.test(value) || /^(\.{0,2}\/|https?:\/\/[^@]*$)/.test(value);
}

function contentOf(folder: Folder, name: string): string {
  try {
    const opened = openFile({ folder, name, path: folder.pathOf(name), stat: folder.stat(name), via: [], made: [] });
    if (!opened.ok) return '';
    try {
      return readWhole(opened.value, MAX_FILE_BYTES).toString('utf8');
    } finally {
      closeSync(opened.value.fd);
    }
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return '';
  }
}
