import type { Stats } from 'node:fs';
import { kindOf } from '../../kernel/world/protected-path.ts';
import type { PathVersion, StagedChange } from '../../kernel/world/stage.ts';
import { below, createChangeList, MAX_DEPTH, TOP, type WalkedPath } from './change-list.ts';
import { NO_FOLDER, type OpenFolder } from './open-folder.ts';
import {
  bareVersion,
  createEntryVersions,
  type EntryVersions,
  identityOf,
  isMask,
  modeOf,
  targetOf,
} from './path-version.ts';

/** One folder, seen from all sides. */
interface FolderSides {
  /** The stage as its run saw it. */
  readonly merged: OpenFolder;
  /** The workspace, or the view of the stages below: the stage stands on it. */
  readonly base: OpenFolder;
  /** The layer with nothing but what the run touched; null where all of it has to be compared. */
  readonly upper: OpenFolder | null;
}

export interface TreeComparison extends FolderSides {
  /** Paths over which a mask lies: a file without content that nobody may read. */
  readonly masked: ReadonlySet<string>;
  /** The same paths, and those over which a mask lies in a view below. */
  readonly hidden: ReadonlySet<string>;
  /** When the stage began. */
  readonly sinceMs: number;
  readonly maxChanges: number;
  /** Of a copy: its names when it was made, by the bytes of the folder's path. */
  readonly copied?: ReadonlyMap<string, ReadonlySet<string>>;
  /** Of a copy: the identity of what the host's edits brought into it since. */
  readonly placed?: ReadonlyMap<string, string>;
  /** Folders of a copy over which overlays of their own lie, by the bytes of their paths. */
  readonly overlaid?: ReadonlyMap<string, OverlaidFolder>;
}

/** A folder of a copy under its own overlay. */
export interface OverlaidFolder {
  readonly merged: OpenFolder;
  readonly upper: OpenFolder;
}

/**
 * Lists exactly what a stage changed: names that are missing in its view were deleted, entries in its upper layer were
 * created or modified. Only folders that were touched are read. Null when there are more than `maxChanges`. Throws what the
 * system throws where a folder cannot be read: a list with gaps would keep less, or more, than was shown.
 */
export async function compareTrees(given: TreeComparison): Promise<StagedChange[] | null> {
  const { masked, sinceMs, copied, placed, overlaid } = given;
  const versions = createEntryVersions();
  const list = createChangeList({ ...given, versions });
  await compareFolder(given, TOP);
  return list.isOver() ? null : list.changes;

  async function compareFolder(sides: FolderSides, path: WalkedPath): Promise<void> {
    const inMerged = new Set(sides.merged.names());
    const wasCopied = copied?.get(path.bytes);
    // Of a copy: a name that came to the workspace later was deleted by nobody.
    const isGone = (name: string): boolean =>
      !inMerged.has(name) && (sides.upper !== null || wasCopied?.has(name) === true);
    const gone = sides.base.names().filter(isGone);
    const touched = sides.upper === null ? [...inMerged] : sides.upper.names().filter((name) => inMerged.has(name));
    for (const name of [...gone, ...touched].sort()) {
      const at = below(path, name);
      if (inMerged.has(name)) await compareEntry(sides, name, at);
      else await list.addDeleted(sides.base, name, at);
      if (list.isOver()) return;
      await list.breathe();
    }
  }

  async function compareEntry(sides: FolderSides, name: string, path: WalkedPath): Promise<void> {
    const after = sides.merged.stat(name);
    if (after === undefined) return;
    const before = sides.base.stat(name);
    // That it is another on the host now is no change of the run.
    if (sides.upper === null && !after.isDirectory() && isUntouched(path, after)) return;
    const isSecret = path.isExact && masked.has(path.text);
    if (isSecret && isMask(after)) return;
    if (before === undefined && sides.upper === null && after.isDirectory() && copied?.has(path.bytes)) {
      return compareOrphan(sides.merged, name, path);
    }
    if (before === undefined) return list.addCreated(sides.upper ?? sides.merged, name, path);
    if (kindOf(before) !== kindOf(after)) {
      await list.addDeleted(sides.base, name, path);
      return list.addCreated(sides.upper ?? sides.merged, name, path);
    }
    const both = { name, before, after };
    if (after.isDirectory()) return compareFolders(sides, path, both);
    const differing = await (isSecret ? secretVersions : differentVersions)(sides, both, versions);
    if (differing === null) return;
    const { isSameContent, ...change } = differing;
    list.add(path, { kind: isSameContent ? 'mode' : 'modified', ...change, ...list.overtaken(before) });
  }

  /** A folder of a copy that the host has deleted meanwhile: only what the run did in it counts. */
  async function compareOrphan(parent: OpenFolder, name: string, path: WalkedPath): Promise<void> {
    const merged = overlaid?.has(path.bytes) ? null : parent.open(name);
    if (merged === null) return;
    const index = list.changes.length;
    try {
      await compareFolder({ merged, base: NO_FOLDER, upper: null }, path);
    } finally {
      merged.close();
    }
    const stat = parent.stat(name);
    if (list.changes.length === index || stat === undefined) return;
    const folder = { path: path.text, kind: 'created', before: null, after: bareVersion(stat) } as const;
    list.changes.splice(index, 0, folder);
  }

  /** Of a copy: since it was copied. */
  function isUntouched({ bytes }: WalkedPath, after: Stats): boolean {
    const identity = placed?.get(bytes);
    return identity === undefined ? after.ctimeMs < sinceMs : identity === identityOf(after);
  }

  async function compareFolders(sides: FolderSides, path: WalkedPath, both: CommonEntry): Promise<void> {
    const { name, before, after } = both;
    if (modeOf(before) !== modeOf(after)) {
      list.add(path, { kind: 'mode', before: bareVersion(before), after: bareVersion(after) });
    }
    if (path.depth > MAX_DEPTH) return;
    const opened: OpenFolder[] = [];
    const open = (side: OpenFolder): OpenFolder | null => {
      const folder = side.open(name);
      if (folder !== null) opened.push(folder);
      return folder;
    };
    try {
      const base = open(sides.base);
      const own = overlaid?.get(path.bytes);
      if (own !== undefined) return base === null ? undefined : await compareFolder({ ...own, base }, path);
      const merged = open(sides.merged);
      const upper = sides.upper === null ? null : open(sides.upper);
      if (merged === null || base === null || (upper === null && sides.upper !== null)) return;
      await compareFolder({ merged, base, upper }, path);
    } finally {
      for (const folder of opened) folder.close();
    }
  }
}

/** One entry that is there on both sides. */
interface CommonEntry {
  readonly name: string;
  readonly before: Stats;
  readonly after: Stats;
}

interface BothVersions {
  readonly before: PathVersion;
  readonly after: PathVersion;
  readonly isSameContent: boolean;
}

/** Pipe, socket or device. */
function formatOf({ mode }: Stats): number {
  return mode & 0o170000;
}

/** The versions of a file over which a mask lies: the one in the workspace is not read. */
async function secretVersions(
  { merged }: FolderSides,
  { name, before, after }: CommonEntry,
  versions: EntryVersions,
): Promise<BothVersions> {
  return { before: bareVersion(before), after: await versions.ofEntry(merged, name, after), isSameContent: false };
}

/** Null when nothing but times differs. */
async function differentVersions(
  { merged, base }: FolderSides,
  both: CommonEntry,
  versions: EntryVersions,
): Promise<BothVersions | null> {
  const { name } = both;
  const [before, after] = [bareVersion(both.before), bareVersion(both.after)];
  const isSameMode = before.mode === after.mode;
  if (before.type === 'other') {
    const isSameContent = both.before.rdev === both.after.rdev && formatOf(both.before) === formatOf(both.after);
    return isSameContent && isSameMode ? null : { before, after, isSameContent };
  }
  if (before.type === 'symlink') {
    const [old, now] = [targetOf(base, name), targetOf(merged, name)];
    if (old !== null && now?.equals(old) === true) return null;
    const changed = { before: { ...before, version: `${old}` }, after: { ...after, version: `${now}` } };
    return { ...changed, isSameContent: false };
  }
  const [old, now] = [await versions.ofFile(base, name, both.before), await versions.ofFile(merged, name, both.after)];
  const isSameContent = old === now && now !== null;
  if (isSameContent && isSameMode) return null;
  return { before: { ...before, version: old }, after: { ...after, version: now }, isSameContent };
}
