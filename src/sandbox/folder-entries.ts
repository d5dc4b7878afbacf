import { type Dirent, readdirSync } from 'node:fs';

export interface FolderEntries {
  readonly names: readonly string[];
  readonly entries: readonly Dirent[];
  /** Those whose names are no text: what they are read as may be the name of another entry. */
  readonly unnameable: readonly Unnameable[];
}

interface Unnameable {
  readonly entry: Dirent<Buffer>;
  /** Only nearly right. */
  readonly name: string;
  /** Its path. */
  readonly bytes: Buffer;
}

/** What bytes that are no text are read as. */
const NO_TEXT = '\uFFFD';

export function entriesOf(folder: string): FolderEntries {
  const entries = readdirSync(folder, { withFileTypes: true });
  const names: string[] = [];
  let isOdd = false;
  for (const { name } of entries) {
    names.push(name);
    if (name.includes(NO_TEXT)) isOdd = true;
  }
  return isOdd ? entriesByBytes(folder) : { names, entries, unnameable: [] };
}

function entriesByBytes(folder: string): FolderEntries {
  const all = readdirSync(folder, { withFileTypes: true, encoding: 'buffer' });
  const unnameable = all
    .filter(({ name }) => !isText(name))
    .map((entry) => ({
      ...{ entry, name: entry.name.toString() },
      bytes: Buffer.concat([Buffer.from(`${folder}/`), entry.name]),
    }));
  const entries = all
    .filter(({ name }) => isText(name))
    .map((entry) => Object.assign<Dirent<never>, { name: string }>(entry as Dirent<never>, { name: `${entry.name}` }));
  return { names: [...entries, ...unnameable].map(({ name }) => name), entries, unnameable };
}

/** Whether a name can be given as a string. */
export function isText(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString()).equals(bytes);
}
