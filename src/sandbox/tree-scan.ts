import { type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { type FilePolicy, type FileRule, isWalked } from '../kernel/file-policy.ts';

/** A path in the workspace that the file policy does not leave writable. */
export interface Found {
  /** Relative to the workspace. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly access: 'hidden' | 'read-only';
  readonly rule: FileRule | null;
}

export interface TreeScan {
  /** Everything in the workspace that needs a mount of its own. Reads only folders that changed since the last time. */
  find(workspace: string): Promise<readonly Found[]>;
  /** Names by folder as of the last `find`, for telling what was deleted. */
  names(workspace: string): ReadonlyMap<string, readonly string[]>;
}

interface Folder {
  changedMs: number;
  inode: number;
  readAtMs: number;
  names: readonly string[];
  folders: readonly string[];
  found: readonly Found[];
}

/** Let other work run after so long: a first scan of a large tree takes longer than one turn may. */
const SLICE_MS = 8;
/** A change within the clock's granularity after a folder was read would not show; such a folder is read again. */
const CLOCK_MS = 50;
const GIT_FILE: FileRule = {
  pattern: '.git',
  access: 'read-only',
  reason: 'it says where git finds its hooks',
  missing: 'sweep',
};

export function createTreeScan(policy: FilePolicy): TreeScan {
  const workspaces = new Map<string, Map<string, Folder>>();

  async function find(workspace: string): Promise<readonly Found[]> {
    const before = workspaces.get(workspace) ?? new Map<string, Folder>();
    const after = new Map<string, Folder>();
    const found: Found[] = [];
    const queue = [''];
    let sliceStart = performance.now();
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      const folder = readFolder(workspace, path, before.get(path));
      if (folder === null) continue;
      after.set(path, folder);
      for (const each of folder.found) found.push(each);
      for (const name of folder.folders) queue.push(path === '' ? name : `${path}/${name}`);
      if (performance.now() - sliceStart > SLICE_MS) {
        await new Promise((resolve) => setImmediate(resolve));
        sliceStart = performance.now();
      }
    }
    workspaces.set(workspace, after);
    return withOtherNames(workspace, found, after);
  }

  function readFolder(workspace: string, path: string, known: Folder | undefined): Folder | null {
    const absolute = path === '' ? workspace : `${workspace}/${path}`;
    try {
      const { ctimeMs, ino } = lstatSync(absolute);
      if (known !== undefined && known.changedMs === ctimeMs && known.inode === ino) {
        if (ctimeMs < known.readAtMs - CLOCK_MS) return known;
      }
      const readAtMs = Date.now();
      return { ...judgeEntries(path, absolute), changedMs: ctimeMs, inode: ino, readAtMs };
    } catch {
      return null;
    }
  }

  function judgeEntries(path: string, absolute: string): Pick<Folder, 'names' | 'folders' | 'found'> {
    const names: string[] = [];
    const folders: string[] = [];
    const found: Found[] = [];
    for (const entry of readdirSync(absolute, { withFileTypes: true })) {
      const { name } = entry;
      names.push(name);
      const kind = kindOf(entry);
      const full = path === '' ? name : `${path}/${name}`;
      const { access, rule } = name === '.git' && kind === 'file' ? GIT_VERDICT : policy.judgeEntry(path, name);
      if (access !== 'writable') found.push({ path: full, kind, access, rule });
      // A socket is a door to whatever process of the host listens on it.
      else if (entry.isSocket()) found.push({ path: full, kind: 'other', access: 'hidden', rule: null });
      if (kind === 'folder' && access === 'writable' && isWalked(full)) folders.push(name);
    }
    return { names, folders, found };
  }

  return {
    find,
    names(workspace) {
      const folders = workspaces.get(workspace) ?? new Map<string, Folder>();
      return new Map([...folders].map(([path, folder]) => [path, folder.names]));
    },
  };
}

const GIT_VERDICT = { access: 'read-only', rule: GIT_FILE } as const;

function kindOf(entry: Dirent): Found['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

/**
 * A hidden file may have other names: hard links, and the target of a link with a sensitive name. Both are rare, so
 * the price of looking for them is paid only when there is one.
 */
function withOtherNames(workspace: string, found: readonly Found[], folders: ReadonlyMap<string, Folder>): Found[] {
  const result = [...found];
  const shared = new Set<number>();
  for (const each of found) {
    if (each.kind === 'link') result.push(...targetOf(workspace, each));
    if (each.access !== 'hidden' || each.kind !== 'file') continue;
    const stat = lstatSync(`${workspace}/${each.path}`, { throwIfNoEntry: false });
    if (stat !== undefined && stat.nlink > 1) shared.add(stat.ino);
  }
  if (shared.size > 0) result.push(...hardLinks(workspace, shared, folders, new Set(found.map(({ path }) => path))));
  return result;
}

function targetOf(workspace: string, link: Found): Found[] {
  try {
    const target = realpathSync(`${workspace}/${link.path}`);
    if (!target.startsWith(`${workspace}/`)) return [];
    const kind = lstatSync(target).isDirectory() ? 'folder' : 'file';
    return [{ ...link, path: target.slice(workspace.length + 1), kind }];
  } catch {
    return [];
  }
}

function hardLinks(
  workspace: string,
  inodes: ReadonlySet<number>,
  folders: ReadonlyMap<string, Folder>,
  known: ReadonlySet<string>,
): Found[] {
  const result: Found[] = [];
  for (const [folder, { names }] of folders) {
    for (const name of names) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (known.has(path)) continue;
      const stat = lstatSync(`${workspace}/${path}`, { throwIfNoEntry: false });
      if (stat?.isFile() && inodes.has(stat.ino)) result.push({ path, kind: 'file', access: 'hidden', rule: null });
    }
  }
  return result;
}
