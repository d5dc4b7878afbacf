import type { Stats } from 'node:fs';
import { digestTree, type TreeDigest } from '../../host/digest-tree.ts';
import { errnoOf } from '../../host/errno.ts';
import { isText } from '../../host/read-folder.ts';
import type { StagedChange } from '../../kernel/world/stage.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { nameAsText, type OpenFolder } from './open-folder.ts';
import { bareVersion, type EntryVersions, targetOf } from './path-version.ts';

/** A path as text and as bytes; the text is not exact below a name that is no text. */
export interface WalkedPath {
  readonly text: string;
  readonly bytes: string;
  readonly isExact: boolean;
  readonly depth: number;
}

export const TOP: WalkedPath = { text: '', bytes: '', isExact: true, depth: 0 };
/** Each level keeps up to three descriptors open; nothing below can be named by a path anyway. */
export const MAX_DEPTH = 1_000;

export function below(path: WalkedPath, name: string): WalkedPath {
  const { text, isExact } = nameAsText(name);
  const [start, bytes] = path.depth === 0 ? ['', ''] : [`${path.text}/`, `${path.bytes}/`];
  return { text: start + text, bytes: bytes + name, isExact: path.isExact && isExact, depth: path.depth + 1 };
}

/** The changes found so far. */
export interface ChangeList {
  readonly changes: StagedChange[];
  isOver(): boolean;
  add(path: WalkedPath, change: Omit<StagedChange, 'path'>): void;
  /** With everything below it, each as a change of its own. */
  addCreated(folder: OpenFolder, name: string, path: WalkedPath): Promise<void>;
  /** A folder as one change. */
  addDeleted(base: OpenFolder, name: string, path: WalkedPath): Promise<void>;
  overtaken(base: Pick<Stats, 'ctimeMs'>): { overtaken?: true };
  /** Lets other work run when it is due. */
  breathe(): Promise<void>;
}

export function createChangeList(given: {
  readonly masked: ReadonlySet<string>;
  /** The same paths, and those over which a mask lies in a view below. */
  readonly hidden: ReadonlySet<string>;
  readonly sinceMs: number;
  readonly maxChanges: number;
  readonly versions: EntryVersions;
}): ChangeList {
  const changes: StagedChange[] = [];
  const yielder = createYielder();

  function isOver(): boolean {
    return changes.length > given.maxChanges;
  }

  function add(path: WalkedPath, change: Omit<StagedChange, 'path'>): void {
    changes.push({
      ...{ path: path.text, ...change },
      ...(!path.isExact && { unnameable: true as const }),
      ...(path.isExact && given.hidden.has(path.text) && { masked: true as const }),
    });
  }

  async function addCreated(folder: OpenFolder, name: string, path: WalkedPath): Promise<void> {
    const stat = folder.stat(name);
    if (stat === undefined || isWhiteout(stat)) return;
    const target = stat.isSymbolicLink() ? targetOf(folder, name) : null;
    const isExact = path.isExact && path.depth <= MAX_DEPTH && (target === null || isText(target));
    add(
      { ...path, isExact },
      { kind: 'created', before: null, after: await given.versions.ofEntry(folder, name, stat) },
    );
    if (!stat.isDirectory() || path.depth > MAX_DEPTH) return;
    const child = folder.open(name);
    if (child === null) return;
    try {
      for (const each of child.names().sort()) {
        await addCreated(child, each, below(path, each));
        if (isOver()) return;
        await breathe();
      }
    } finally {
      child.close();
    }
  }

  async function addDeleted(base: OpenFolder, name: string, path: WalkedPath): Promise<void> {
    const stat = base.stat(name);
    if (stat === undefined) return;
    if (stat.isDirectory()) {
      const { digest, entries, bytes, changedAtMs } = await digestOfFolder(base, name);
      const before = { ...bareVersion(stat), version: digest };
      const late = overtaken({ ctimeMs: Math.max(stat.ctimeMs, changedAtMs) });
      add(path, { kind: 'deleted', before, after: null, entries, bytes, ...late });
      return;
    }
    const isSecret = path.isExact && given.masked.has(path.text);
    const before = isSecret ? bareVersion(stat) : await given.versions.ofEntry(base, name, stat);
    add(path, { kind: 'deleted', before, after: null, ...overtaken(stat) });
  }

  function overtaken({ ctimeMs }: Pick<Stats, 'ctimeMs'>): { overtaken?: true } {
    // The command begins some ticks of the clock after the stage: one of the same tick is older.
    return ctimeMs > given.sinceMs ? { overtaken: true } : {};
  }

  async function breathe(): Promise<void> {
    if (yielder.isDue()) await yielder.pause();
  }

  return { changes, isOver, add, addCreated, addDeleted, overtaken, breathe };
}

/** A null digest for a folder that cannot be read as a whole. */
async function digestOfFolder(
  base: OpenFolder,
  name: string,
): Promise<Omit<TreeDigest, 'digest'> & { digest: string | null }> {
  const folder = base.open(name);
  try {
    return folder === null ? UNKNOWN : await digestTree(`/proc/self/fd/${folder.fd}`);
  } catch (error) {
    // Deeper than any path.
    if (errnoOf(error) === undefined) throw error;
    return UNKNOWN;
  } finally {
    folder?.close();
  }
}

const UNKNOWN = { digest: null, entries: 0, bytes: 0, changedAtMs: 0 };

/** The mark of the kernel for a deleted name, in a folder that the host deleted since. No run can make one. */
function isWhiteout(stat: Stats): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0;
}
