import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  mkdirSync,
  type Stats,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { below, type WalkedPath } from './change-list.ts';
import { copyMaskLook, makeMask } from './mask-file.ts';
import type { OpenFolder } from './open-folder.ts';
import { modeOf, targetOf } from './path-version.ts';

const MAX_COPY = { files: 20_000, bytes: 500 * 1024 * 1024 };

export interface TreeCopyOptions {
  /** Asked at the moment of the copy. A mask takes the place of a hidden path. */
  isHidden(path: WalkedPath, stat: Stats): boolean;
  /** Whether a folder stays empty in the copy, because an overlay lies over it. */
  isOverlaid(path: WalkedPath): boolean;
  /** Called before the names in a folder are read. */
  onFolder?(source: OpenFolder, path: WalkedPath): void;
}

/** Copies entries of a tree, without pipes, sockets and devices. Symlinks are copied, never followed. */
export interface TreeCopy {
  /** The names that were copied, by the bytes of their folder's path. */
  readonly names: Map<string, Set<string>>;
  /** Permissions of the folders that were copied, by the same paths. */
  readonly modes: Map<string, number>;
  /** The folder at the top that takes most of what may be copied, so far; null while there is none. */
  largestTop(): string | null;
  /** False when it would be too much. Throws what the system throws when the copy cannot be written. */
  copyFolder(source: OpenFolder, target: OpenFolder, path: WalkedPath): Promise<boolean>;
  /** One entry with all below it, under a name of its own in `target`. `gone` when there is nothing to copy. */
  copyEntry(entry: CopiedEntry): Promise<CopyOutcome>;
  /** Counts an entry of the copy that was made in another way. */
  count(path: WalkedPath, stat: Stats): void;
  /** Makes room: this entry of the copy is there no more. */
  release(stat: Stats): void;
}

/** `linked`: copied, and the file had other names when it was read. */
export type CopyOutcome = 'copied' | 'linked' | 'gone' | 'too-much';

export interface CopiedEntry {
  readonly source: OpenFolder;
  readonly name: string;
  readonly path: WalkedPath;
  readonly target: OpenFolder;
  /** Left out: `name`. */
  readonly as?: string;
}

export function createTreeCopy(options: TreeCopyOptions): TreeCopy {
  const names = new Map<string, Set<string>>();
  const modes = new Map<string, number>();
  const shareOfTop = new Map<string, number>();
  const yielder = createYielder();
  let [files, bytes] = [0, 0];

  async function copyFolder(source: OpenFolder, target: OpenFolder, path: WalkedPath): Promise<boolean> {
    const copied = new Set<string>();
    names.set(path.bytes, copied);
    options.onFolder?.(source, path);
    for (const name of source.names()) {
      const done = await copyEntry({ source, name, path: below(path, name), target });
      if (done === 'too-much') return false;
      if (done !== 'gone') copied.add(name);
      if (yielder.isDue()) await yielder.pause();
    }
    return true;
  }

  async function copyEntry(entry: CopiedEntry): Promise<CopyOutcome> {
    const { source, name, path, target, as = name } = entry;
    const stat = source.stat(name);
    if (stat === undefined) return 'gone';
    const to = target.at(as);
    const isHidden = options.isHidden(path, stat);
    const size = isHidden ? 0 : sizeOf(stat);
    if (!hasRoom(path, size)) {
      free(size);
      return 'too-much';
    }
    const done = isHidden ? putMask(to, stat) : await put(entry, stat, to);
    if (done === 'gone') free(size);
    return done;
  }

  function hasRoom(path: WalkedPath, size: number): boolean {
    const [top = ''] = path.text.split('/');
    const share = 1 / MAX_COPY.files + size / MAX_COPY.bytes;
    shareOfTop.set(top, (shareOfTop.get(top) ?? 0) + share);
    files++;
    bytes += size;
    return files <= MAX_COPY.files && bytes <= MAX_COPY.bytes;
  }

  function free(size: number): void {
    files--;
    bytes -= size;
  }

  async function put(entry: CopiedEntry, stat: Stats, to: string | Buffer): Promise<CopyOutcome> {
    if (stat.isDirectory()) return copyBelow(entry, stat, to);
    if (stat.isFile()) return copyFile(entry, to);
    const link = stat.isSymbolicLink() ? targetOf(entry.source, entry.name) : null;
    if (link === null) return 'gone';
    symlinkSync(link, to);
    return 'copied';
  }

  async function copyBelow(
    { source, name, path, target, as = name }: CopiedEntry,
    stat: Stats,
    to: string | Buffer,
  ): Promise<CopyOutcome> {
    const inner = source.open(name);
    if (inner === null) return 'gone';
    mkdirSync(to, { mode: 0o700 });
    const outer = target.open(as);
    try {
      const isWhole = outer === null || options.isOverlaid(path) || (await copyFolder(inner, outer, path));
      copyLook(to, stat);
      modes.set(path.bytes, modeOf(stat));
      return isWhole ? 'copied' : 'too-much';
    } finally {
      inner.close();
      outer?.close();
    }
  }

  return {
    names,
    modes,
    copyFolder,
    copyEntry,
    count: (path, stat) => void hasRoom(path, sizeOf(stat)),
    release: (stat) => free(sizeOf(stat)),
    largestTop: () => [...shareOfTop].sort(([, one], [, other]) => other - one)[0]?.[0] ?? null,
  };
}

function sizeOf(stat: Stats): number {
  return stat.isFile() ? stat.size : 0;
}

function putMask(to: string | Buffer, stat: Stats): 'copied' {
  makeMask(to);
  copyMaskLook(to, stat);
  return 'copied';
}

/** By its descriptor: a symlink that takes its place is not followed. */
function copyFile({ source, name }: CopiedEntry, to: string | Buffer): CopyOutcome {
  const fd = source.openFile(name);
  if (fd === null) return 'gone';
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return 'gone';
    copyFileSync(`/proc/self/fd/${fd}`, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    copyLook(to, stat);
    return stat.nlink > 1 ? 'linked' : 'copied';
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EACCES') return 'gone';
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** With owner and times; for a path that nobody else can change meanwhile. */
export function copyLook(to: string | Buffer, stat: Stats): void {
  if (process.getuid?.() === 0) chownSync(to, stat.uid, stat.gid);
  chmodSync(to, stat.mode & 0o7777);
  utimesSync(to, stat.atimeMs / 1000, stat.mtimeMs / 1000);
}
