import { type FilePolicy, type FileRule, type FileVerdict, isWalked } from '../kernel/file-policy.ts';
import type { Names } from './protected-paths/find-changes.ts';
import { createFolderReader, type FolderReader, type Listed } from '../host/read-folder.ts';
import { type Found, kindOf } from './found.ts';
import { gitRule, isForGit, isRepository, namedByConfig } from './git-folders.ts';
import { statOf } from './inside.ts';
import { hiddenBelow } from './linked-folders.ts';
import { otherNames } from './protected-paths/aliases.ts';
import { createSlices } from './slices.ts';
import { isUnwalked, mayLeadUnwalked, unwalkedTarget } from './protected-paths/symlink-targets.ts';

export interface TreeScan {
  /**
   * Everything in the workspace that needs a mount of its own. Reads only folders that changed since the last time.
   * Hidden folders are not looked into, except those that `isFresh` picks: of them, what the host would obey is found, too.
   */
  find(workspace: string, isFresh?: (hidden: Found) => boolean): Promise<Scanned>;
}

export interface Scanned {
  readonly found: readonly Found[];
  /** Names by folder as of this `find`, for telling what was deleted. Without those in hidden folders. */
  names(): Names;
}

/** What is known of a folder from when it was read last. */
interface Folder {
  readonly absolute: string;
  readonly changedMs: number;
  readonly inode: number;
  readonly readAtMs: number;
  readonly names: readonly string[];
  /** Paths of the folders in it that are looked at. The same strings every time: to make and hash them anew takes as long as to look. */
  readonly below: readonly string[];
  readonly found: readonly Found[];
  /** Links in it that may lead to a folder that is looked at only because of them. */
  readonly leads: readonly string[];
  /** Links in it in place of a folder in which a rule hides something. */
  readonly stands: readonly string[];
}

type Judged = Pick<Folder, 'names' | 'below' | 'found' | 'leads' | 'stands'>;
type Unread = 'gone' | 'unreadable' | 'failed';

/** Entries that are judged before it is asked whether other work should run. */
const BATCH = 256;
/** A change within the clock's granularity after a folder was read would not show; such a folder is read again. */
const CLOCK_MS = 50;

const LINKED_FOLDER: FileRule = {
  pattern: 'a link in place of a folder with protected files',
  access: 'read-only',
  reason: 'the host takes what it leads to for protected files',
  missing: 'sweep',
};

const WRITABLE: FileVerdict = { access: 'writable', rule: null };

/** `home` is where the user's own git configuration is. */
export function createTreeScan(policy: FilePolicy, home: string): TreeScan {
  const workspaces = new Map<string, Map<string, Folder>>();
  const targets = new Map<string, Map<string, Found>>();

  async function find(workspace: string, isFresh?: (hidden: Found) => boolean): Promise<Scanned> {
    const before = workspaces.get(workspace) ?? new Map<string, Folder>();
    const after = new Map<string, Folder>();
    const found: Found[] = [];
    const stands: string[] = [];
    const queue = [''];
    /** In hidden folders. */
    const covered = new Set<string>();
    using reader = createFolderReader(workspace);
    const looked = new Set<string>();
    const slices = createSlices();
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      if (after.has(path) || looked.has(path)) continue;
      const isCovered = covered.has(path);
      const known = before.get(path);
      const read = known !== undefined && isAsItWas(known) ? known : await readFolder(reader, path, isCovered);
      if (read === 'gone') continue;
      if (typeof read === 'string') found.push({ path, kind: 'folder', access: 'hidden', rule: null, because: read });
      // What was known of it before still counts: nothing in it is taken for deleted.
      const folder = read === 'failed' ? known : read;
      if (folder === undefined || folder === 'unreadable') continue;
      if (isCovered) looked.add(path);
      else after.set(path, folder);
      for (const each of folder.found) {
        found.push(each);
        if (each.access !== 'hidden' || each.kind !== 'folder' || !isFresh?.(each)) continue;
        covered.add(each.path);
        queue.push(each.path);
      }
      for (const each of folder.below) {
        if (isCovered) covered.add(each);
        queue.push(each);
      }
      for (const each of folder.stands) stands.push(each);
      for (const each of folder.leads) {
        // The host would go there by the link's name, as to any folder of the workspace.
        const target = unwalkedTarget(workspace, each);
        if (target !== null) queue.push(target);
        if (slices.isOver()) await slices.next();
      }
      if (slices.isOver()) await slices.next();
    }
    workspaces.set(workspace, after);
    const all = [
      ...found,
      ...(await namedByConfig(workspace, found, home)),
      ...unlisted(await hiddenBelow(workspace, stands, policy), found),
    ];
    const names = (): Names => new Map([...after].map(([path, folder]) => [path, folder.names]));
    const others = await otherNames(workspace, all, names);
    return { found: [...all, ...others, ...(await stillHidden(workspace, [...all, ...others]))], names };
  }

  /** A link can be renamed from inside, and with it what says that its target is secret: once hidden, that stays so. */
  async function stillHidden(workspace: string, found: readonly Found[]): Promise<Found[]> {
    const paths = new Set(found.map(({ path }) => path));
    const before = targets.get(workspace) ?? new Map<string, Found>();
    targets.set(workspace, before);
    for (const each of found) {
      if (each.access === 'hidden' && (each.because === 'alias' || each.linked)) before.set(each.path, each);
    }
    const slices = createSlices();
    const still: Found[] = [];
    for (const each of [...before.values()].filter(({ path }) => !paths.has(path))) {
      if (statOf(`${workspace}/${each.path}`) !== undefined) still.push(each);
      if (slices.isOver()) await slices.next();
    }
    return still;
  }

  async function readFolder(reader: FolderReader, path: string, isCovered: boolean): Promise<Folder | Unread> {
    try {
      const readAtMs = Date.now();
      const listed = await reader.read(path);
      const { stat, absolute } = listed;
      return {
        absolute,
        ...(await judgeEntries(path, listed, isCovered)),
        changedMs: stat.ctimeMs,
        inode: stat.ino,
        readAtMs,
      };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A link is there by now. And one that is too deep to be named can be neither mounted on nor reached by anybody's path.
      if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].includes(code ?? '')) return 'gone';
      return ['EACCES', 'EPERM'].includes(code ?? '') ? 'unreadable' : 'failed';
    }
  }

  async function judgeEntries(path: string, listed: Listed, isCovered: boolean): Promise<Judged> {
    const below: string[] = [];
    const found: Found[] = [];
    const leads: string[] = [];
    const stands: string[] = [];
    const { names, entries, unnameable, absolute } = listed;
    const repository = isRepository(names);
    const linked = isCovered || isUnwalked(path) ? ({ linked: true } as const) : {};
    const slices = createSlices();
    let count = 0;
    for (const entry of entries) {
      if (++count % BATCH === 0 && slices.isOver()) await slices.next();
      const { name } = entry;
      const kind = kindOf(entry);
      const judged = judge(path, name, kind, repository);
      // Almost all are.
      if (kind === 'file' && judged.access === 'writable') continue;
      const full = path === '' ? name : `${path}/${name}`;
      const isNothing = linked.linked && !isCovered && !mattersInPackages(full, judged);
      const { access, rule } = isNothing ? WRITABLE : judged;
      const isHidden = access === 'hidden' || (access === 'writable' && entry.isSocket());
      // What is in a hidden folder is hidden with it.
      if (isHidden && !isCovered)
        found.push({ path: full, kind, access: 'hidden', rule: access === 'hidden' ? rule : null, ...linked });
      else if (access === 'read-only') found.push({ path: full, kind, access, rule, ...linked });
      if (kind === 'folder' && (isCovered || !isHidden) && isWalked(full)) below.push(full);
      if (kind !== 'link') continue;
      if (mayLeadUnwalked(full, `${absolute}/${name}`)) leads.push(full);
      if (!isHidden && policy.holdsHidden(full)) stands.push(full);
    }
    for (const { entry, name, bytes } of unnameable) {
      const kind = kindOf(entry);
      const full = path === '' ? name : `${path}/${name}`;
      const isWritable = judge(path, name, kind, repository).access === 'writable';
      if (isWritable && kind !== 'folder' && !(kind === 'link' && mayLeadUnwalked(full, bytes))) continue;
      found.push({ path: full, kind, access: 'hidden', rule: null, because: 'unnameable' });
    }
    return { names, below, found, leads, stands };
  }

  function judge(folder: string, name: string, kind: Found['kind'], isRepository: boolean): FileVerdict {
    const verdict = policy.judgeEntry(folder, name);
    if (verdict.rule !== null) return verdict;
    const rule = gitRule(name, kind, isRepository) ?? (kind === 'link' ? linkRule(folder, name) : null);
    return rule === null ? verdict : { access: rule.access, rule };
  }

  function linkRule(folder: string, name: string): FileRule | null {
    return policy.holdsProtected(folder === '' ? name : `${folder}/${name}`) ? LINKED_FOLDER : null;
  }

  return { find };
}

function isAsItWas({ absolute, changedMs, inode, readAtMs }: Folder): boolean {
  const stat = statOf(absolute);
  return changedMs === stat?.ctimeMs && inode === stat.ino && stat.ctimeMs < readAtMs - CLOCK_MS;
}

function unlisted(more: readonly Found[], found: readonly Found[]): Found[] {
  if (more.length === 0) return [];
  const hidden = new Set(found.filter(({ access }) => access === 'hidden').map(({ path }) => path));
  return more.filter(({ path }) => !hidden.has(path));
}

/** Packages ship settings of editors, which nobody obeys there; a planted repository is obeyed wherever a link leads to it. */
function mattersInPackages(path: string, { access, rule }: FileVerdict): boolean {
  return access === 'hidden' || isForGit(path, rule);
}
