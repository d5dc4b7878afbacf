import { hash } from 'node:crypto';
import { gitCredentialsIn, isGitConfig } from '../git/credentials.ts';
import { readBelow, readEntry } from '../host/open-file.ts';
import { visitTree } from '../host/visit-tree.ts';
import { createYielder } from '../kernel/yielding.ts';

import { PRIVATE_KEY } from './find-secrets.ts';
import { decodedForms, encodedForms, halvesOf } from './secret-encodings.ts';
import type { PolicedTree } from './secret-hard-links.ts';
import { secretsIn, textOf } from './secret-in-file.ts';
import { isNamedSecret } from './secret-names.ts';

const FRESH_MS = 2000;
const MAX_FILE_BYTES = 64 * 1024;
const MAX_FILES = 100;
const MAX_HIDDEN = 500;
const MAX_HIDDEN_BYTES = 256 * 1024;
const MAX_VALUES = 4000;
const MIN_VALUE_LENGTH = 8;
const MIN_RANDOM_LENGTH = 16;

interface KnownValue {
  readonly path: string;
  /** A secret by itself, wherever it is printed: not the name of a host or a table that the file happens to have too. */
  readonly isSecret: boolean;
}

/** Knows the values in sensitive files and the credentials in git's, to detect one on its way out and to hide it in output. */
export class SecretValues {
  readonly #tree: PolicedTree;
  /** By the file, as long as it is the same. */
  readonly #secrets = new Map<string, { digest: string; values: readonly string[] }>();
  #known: { at: number; values: Promise<ReadonlyMap<string, KnownValue>> } | undefined;

  constructor(tree: PolicedTree) {
    this.#tree = tree;
  }

  /** The sensitive file one of whose values stands in the text, in one of the usual encodings, backwards, or half of it. */
  async foundIn(text: string): Promise<string | null> {
    const values = await this.#current();
    if (values.size === 0) return null;
    const readings = decodedForms(text);
    for (const [value, { path, isSecret }] of values) {
      const pieces = isSecret ? halvesOf(value).map((each) => each.toLowerCase()) : [];
      const leaving = [...encodedForms(value), ...pieces];
      if (leaving.some((spelling) => readings.some((each) => each.includes(spelling)))) return path;
    }
    return null;
  }

  /** The values to hide in what a command prints, each with its file; also those that make `hidden` files secret by their content. */
  async toHide(hidden: readonly string[] = []): Promise<ReadonlyMap<string, string>> {
    const values = new Map<string, string>();
    for (const [value, { path, isSecret }] of await this.#current()) if (isSecret) values.set(value, path);
    const yielder = createYielder();
    for (const path of hidden.slice(0, MAX_HIDDEN)) {
      if (values.size >= MAX_VALUES) break;
      for (const value of this.#secretsOf(path)) if (!values.has(value)) values.set(value, path);
      if (yielder.isDue()) await yielder.pause();
    }
    return values;
  }

  #secretsOf(path: string): readonly string[] {
    const bytes = readBelow(this.#tree.folder, path, MAX_HIDDEN_BYTES) ?? Buffer.alloc(0);
    const digest = hash('sha256', bytes, 'hex');
    const known = this.#secrets.get(path);
    if (known?.digest === digest) return known.values;
    const text = textOf(bytes);
    const found = [...secretsIn(path, text)].flatMap(({ name, start, end }) => partsOf(name, text.slice(start, end)));
    const values = [...new Set(found)].slice(0, MAX_VALUES);
    if (this.#secrets.size >= MAX_HIDDEN) this.#secrets.clear();
    this.#secrets.set(path, { digest, values });
    return values;
  }

  #current(): Promise<ReadonlyMap<string, KnownValue>> {
    if (this.#known === undefined || performance.now() - this.#known.at > FRESH_MS) {
      this.#known = { at: performance.now(), values: this.#find() };
    }
    return this.#known.values;
  }

  async #find(): Promise<ReadonlyMap<string, KnownValue>> {
    const { policy, folder: top } = this.#tree;
    const values = new Map<string, KnownValue>();
    let files = 0;
    await visitTree(top, ({ folder, name, type }) => {
      const path = folder.pathOf(name);
      const isGit = isGitConfig(path);
      if (type !== 'file' || (!isGit && policy.judgeEntry(folder.path, name).access !== 'hidden')) return 'enter';
      const content = readEntry(folder, name, MAX_FILE_BYTES)?.toString('utf8') ?? '';
      const known = values.size;
      for (const { value, isSecret } of isGit ? credentialsIn(content) : valuesIn(content)) {
        const before = values.get(value);
        values.set(value, { path, isSecret: isSecret || before?.isSecret === true });
      }
      // Git's files come first and may be many, one for each submodule: those without a new value must not use up the limit.
      if (!isGit || values.size > known) files++;
      return files < MAX_FILES && values.size < MAX_VALUES ? 'enter' : 'stop';
    });
    return values;
  }
}

/** A secret as it is printed: of a private key each line, of a value no quotes. */
function partsOf(name: string, secret: string): readonly string[] {
  if (name === PRIVATE_KEY) return secret.match(KEY_LINES) ?? [];
  const value = secret.replace(/^["']|["']$/g, '');
  return value.length < MIN_VALUE_LENGTH ? [] : [value];
}

/** A key on one line counts in pieces. */
const KEY_LINES = /[A-Za-z0-9+/=_-]{16,64}/g;

interface NamedValue {
  readonly value: string;
  readonly isSecret: boolean;
}

function credentialsIn(text: string): readonly NamedValue[] {
  const found = gitCredentialsIn(text).filter((value) => value.length >= MIN_VALUE_LENGTH);
  return found.map((value) => ({ value, isSecret: true }));
}

/** Returns values after = or :, except those that are no secret: words, numbers, paths, addresses of pages. */
function valuesIn(text: string): NamedValue[] {
  return text.split('\n').flatMap((line) => {
    const found = /^\s*(?:export\s+)?["']?([\w.-]+)["']?\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|([^\s#,]+))/.exec(line);
    const value = (found?.[2] ?? found?.[3] ?? found?.[4] ?? '').trim();
    if (value.length < MIN_VALUE_LENGTH || isOrdinary(value)) return [];
    return [{ value, isSecret: isNamedSecret(found?.[1] ?? '', value) || isOneRandomWord(value) }];
  });
}

/** Letters and digits without the dots of a host, the slashes of a path or the spaces of a sentence. */
function isOneRandomWord(value: string): boolean {
  return value.length >= MIN_RANDOM_LENGTH && /\d/.test(value) && /[a-z]/i.test(value) && !/[./\s]/.test(value);
}

function isOrdinary(value: string): boolean {
  return /^[a-z]+$/i.test(value) || /^[\d.,:-]+$/.test(value) || /^(\.{0,2}\/|https?:\/\/[^@]*$)/.test(value);
}
