import { closeSync } from 'node:fs';
import { gitCredentialsIn, isGitConfig } from '../kernel/git-credentials.ts';
import { errnoOf } from '../host/errno.ts';
import type { Folder } from '../workspace/folder.ts';
import { openFile, readWhole } from '../host/open-file.ts';
import type { Place } from '../workspace/workspace-root.ts';
import { readingsOf, spellingsOf } from './secret-encodings.ts';
import { visitTree } from '../host/visit-tree.ts';

const FRESH_MS = 2000;
const MAX_FILE_BYTES = 64 * 1024;
const MOST_FILES = 100;
const MOST_VALUES = 2000;
const SHORTEST = 8;

/** The values that stand in sensitive files, and the credentials in git's, to notice one on its way out. They never leave this object. */
export class SecretValues {
  readonly #place: Place;
  #known: { at: number; values: Promise<ReadonlyMap<string, string>> } | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  /** The sensitive file of which a value stands in the text, in one of the usual spellings. */
  async foundIn(text: string): Promise<string | null> {
    if (this.#known === undefined || performance.now() - this.#known.at > FRESH_MS) {
      this.#known = { at: performance.now(), values: this.#find() };
    }
    const values = await this.#known.values;
    if (values.size === 0) return null;
    const readings = readingsOf(text);
    for (const [value, path] of values) {
      if (spellingsOf(value).some((spelling) => readings.some((each) => each.includes(spelling)))) return path;
    }
    return null;
  }

  async #find(): Promise<ReadonlyMap<string, string>> {
    const { policy, root } = this.#place;
    const values = new Map<string, string>();
    let files = 0;
    await visitTree(root, ({ folder, name, type }) => {
      const path = folder.pathOf(name);
      const isGit = isGitConfig(path);
      if (type !== 'file' || (!isGit && policy.judgeEntry(folder.path, name).access !== 'hidden')) return 'enter';
      const content = contentOf(folder, name);
      const known = values.size;
      for (const value of isGit ? longEnough(gitCredentialsIn(content)) : valuesIn(content)) values.set(value, path);
      // Git's come first and may be many, one for each submodule: those that tell nothing new keep nobody from the rest.
      if (!isGit || values.size > known) files++;
      return files < MOST_FILES && values.size < MOST_VALUES ? 'enter' : 'stop';
    });
    return values;
  }
}

function longEnough(values: readonly string[]): readonly string[] {
  return values.filter((value) => value.length >= SHORTEST);
}

/** Values after = or :, without what is no secret: words, numbers, paths, addresses of pages. */
function valuesIn(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const found = /^\s*(?:export\s+)?["']?[\w.-]+["']?\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|([^\s#,]+))/.exec(line);
    const value = (found?.[1] ?? found?.[2] ?? found?.[3] ?? '').trim();
    return value.length >= SHORTEST && !isOrdinary(value) ? [value] : [];
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
