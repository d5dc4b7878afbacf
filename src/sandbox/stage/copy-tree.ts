import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  mkdirSync,
  type Stats,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { nameAsText, type OpenFolder, openFolder } from './open-folder.ts';
import { targetOf } from './path-version.ts';
import type { StageRecord } from './stage-folder.ts';

const MAX_COPY = { files: 20_000, bytes: 500 * 1024 * 1024 };

type CopiedNames = NonNullable<StageRecord['copied']>;

/**
 * Copies a tree, with masks in place of hidden paths and without pipes, sockets and devices. Returns the names that it has
 * copied, by folder; null for a tree that is too large, of which nothing is left.
 */
export async function copyTree(given: {
  from: string;
  to: string;
  hidden: ReadonlySet<string>;
}): Promise<CopiedNames | null> {
  const copied: [string, string[]][] = [];
  const yielder = createYielder();
  let [files, bytes] = [0, 0];
  const from = openFolder(given.from, 'theirs');
  mkdirSync(given.to, { recursive: true });
  const to = openFolder(given.to, 'ours');
  try {
    if (await copyFolder(from, to, { bytes: '', text: '' })) return copied;
    removeTree(given.to);
    return null;
  } finally {
    from.close();
    to.close();
  }

  async function copyFolder(source: OpenFolder, target: OpenFolder, path: CopiedPath): Promise<boolean> {
    const names: string[] = [];
    copied.push([path.bytes, names]);
    for (const name of source.names()) {
      const stat = source.stat(name);
      if (stat === undefined) continue;
      files++;
      bytes += stat.isFile() ? stat.size : 0;
      if (files > MAX_COPY.files || bytes > MAX_COPY.bytes) return false;
      const at = below(path, name);
      const isHidden = given.hidden.has(at.text);
      if (isHidden) writeFileSync(target.at(name), '', { mode: 0o000 });
      else if (!copyEntry({ source, target, name, stat })) continue;
      names.push(name);
      if (stat.isDirectory() && !isHidden && !(await copyBelow({ source, target, name, stat }, at))) return false;
      if (yielder.isDue()) await yielder.pause();
    }
    return true;
  }

  async function copyBelow({ source, target, name, stat }: CopiedEntry, path: CopiedPath): Promise<boolean> {
    const [inner, outer] = [source.open(name), target.open(name)];
    try {
      const isWhole = inner === null || outer === null || (await copyFolder(inner, outer, path));
      copyLook(target.at(name), stat);
      return isWhole;
    } finally {
      inner?.close();
      outer?.close();
    }
  }
}

interface CopiedPath {
  readonly bytes: string;
  readonly text: string;
}

interface CopiedEntry {
  readonly source: OpenFolder;
  readonly target: OpenFolder;
  readonly name: string;
  readonly stat: Stats;
}

function below({ bytes, text }: CopiedPath, name: string): CopiedPath {
  const { text: own } = nameAsText(name);
  return bytes === '' ? { bytes: name, text: own } : { bytes: `${bytes}/${name}`, text: `${text}/${own}` };
}

/** False for what is not copied: it is gone, cannot be read, or is neither file, folder nor symlink. */
function copyEntry({ source, target, name, stat }: CopiedEntry): boolean {
  const to = target.at(name);
  try {
    if (stat.isDirectory()) mkdirSync(to, { mode: 0o700 });
    else if (stat.isSymbolicLink()) symlinkSync(targetOf(source, name) ?? '', to);
    else if (stat.isFile()) {
      copyFileSync(source.at(name), to, constants.COPYFILE_FICLONE);
      copyLook(to, stat);
    } else return false;
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EACCES') return false;
    throw error;
  }
}

function copyLook(to: string | Buffer, stat: Stats): void {
  if (process.getuid?.() === 0) chownSync(to, stat.uid, stat.gid);
  chmodSync(to, stat.mode & 0o7777);
  utimesSync(to, stat.atimeMs / 1000, stat.mtimeMs / 1000);
}
