import type { Stats } from 'node:fs';
import { statOf } from '../../host/files.ts';
import { parentOf } from '../../kernel/text/folders-above.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { isFileJudged, type SecretContent } from './file-content.ts';
import { createReadQueue, type ReadFile } from './read-queue.ts';

/** The contents of the files of one workspace, each read once until the file changes. */
export interface ContentIndex {
  /** Takes over the list of a folder's files. `changed` are those that may have changed; the others are as they were. */
  list(folder: string, files: readonly string[], changed: ChangedNames): Promise<void>;
  /** Looks again at files of a folder whose list is as it was. */
  look(folder: string, changed: ChangedNames): Promise<void>;
  forget(folder: string): void;
  /** Null while the file waits to be read. */
  of(folder: string, name: string): SecretContent | null;
  /** The files that hold a secret or wait. */
  suspects(): Iterable<{ readonly path: string; readonly content: SecretContent | null }>;
  /** Reads the files that wait. Resolves when none does, or the time is over: then reading goes on. */
  settle(withinMs: number): Promise<void>;
  /** How many files wait. */
  readonly waiting: number;
  close(): void;
}

export type ChangedNames = 'all' | ReadonlySet<string>;

interface IndexedFolder {
  readonly files: Map<string, ReadFile>;
  readonly suspects: Set<string>;
  /** Files with several names: an edit under another one comes without an event. */
  readonly shared: Set<string>;
}

/** A change within the clock's granularity after the read would not show. */
const CLOCK_MS = 50;

export function createContentIndex(workspace: string): ContentIndex {
  const folders = new Map<string, IndexedFolder>();
  const queue = createReadQueue(workspace, note);
  const yielder = createYielder();

  function note(path: string, file: ReadFile | null): void {
    const folder = parentOf(path);
    const name = folder === '' ? path : path.slice(folder.length + 1);
    const indexed = folders.get(folder);
    // Gone meanwhile.
    if (indexed?.suspects.has(name) !== true) return;
    if (file?.secret === null || file === null) indexed.suspects.delete(name);
    if (file !== null) indexed.files.set(name, file);
    if (file?.isShared) indexed.shared.add(name);
    else indexed.shared.delete(name);
  }

  function wait(folder: string, indexed: IndexedFolder, name: string): void {
    const path = join(folder, name);
    if (!isFileJudged(path)) return;
    indexed.suspects.add(name);
    queue.add(path);
  }

  function lookAt(folder: string, indexed: IndexedFolder, name: string): void {
    const stat = statOf(`${workspace}/${join(folder, name)}`);
    const known = indexed.files.get(name);
    if (stat?.isFile() !== true) remove(folder, indexed, name);
    else if (known === undefined || !isSame(known, stat)) {
      indexed.files.delete(name);
      wait(folder, indexed, name);
    }
  }

  function remove(folder: string, indexed: IndexedFolder, name: string): void {
    for (const each of [indexed.files, indexed.suspects, indexed.shared]) each.delete(name);
    queue.delete(join(folder, name));
  }

  return {
    async list(folder, files, changed) {
      const indexed = folders.get(folder) ?? { files: new Map(), suspects: new Set(), shared: new Set() };
      folders.set(folder, indexed);
      for (const name of files) {
        const isNew = !indexed.files.has(name) && !indexed.suspects.has(name);
        if (isNew) wait(folder, indexed, name);
        else if (changed === 'all' || changed.has(name) || indexed.shared.has(name)) lookAt(folder, indexed, name);
        if (yielder.isDue()) await yielder.pause();
      }
      const present = new Set(files);
      for (const name of namesOf(indexed)) if (!present.has(name)) remove(folder, indexed, name);
    },
    async look(folder, changed) {
      const indexed = folders.get(folder);
      if (indexed === undefined) return;
      const isListed = (name: string) => indexed.files.has(name) || indexed.suspects.has(name);
      const named = changed === 'all' ? namesOf(indexed) : [...changed].filter(isListed);
      for (const name of new Set([...named, ...indexed.shared])) {
        lookAt(folder, indexed, name);
        if (yielder.isDue()) await yielder.pause();
      }
    },
    forget(folder) {
      const indexed = folders.get(folder);
      folders.delete(folder);
      for (const name of indexed?.suspects ?? []) queue.delete(join(folder, name));
    },
    of: (folder, name) => folders.get(folder)?.files.get(name) ?? null,
    *suspects() {
      for (const [folder, { files, suspects }] of folders) {
        for (const name of suspects) yield { path: join(folder, name), content: files.get(name) ?? null };
      }
    },
    settle: queue.settle,
    get waiting() {
      return queue.size;
    },
    close: queue.close,
  };
}

function namesOf({ files, suspects }: IndexedFolder): string[] {
  return [...files.keys(), ...suspects];
}

function isSame(known: ReadFile, { ino, size, ctimeMs }: Stats): boolean {
  const isSettled = ctimeMs < known.readAtMs - CLOCK_MS;
  return isSettled && known.inode === ino && known.size === size && known.changedMs === ctimeMs;
}

function join(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
