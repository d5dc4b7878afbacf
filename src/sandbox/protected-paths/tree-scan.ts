import { gitFileRule, isObeyedByGit, isRepository, repositoryEntryRule } from '../../git/obeyed-paths.ts';
import { errnoOf } from '../../host/errno.ts';
import { statOf } from '../../host/files.ts';
import { createFolderReader, type FolderListing, type FolderReader } from '../../host/read-folder.ts';
import { type FilePolicy, type FileVerdict, isWalked } from '../../kernel/world/file-policy.ts';
import { kindOf, type ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { FileRule } from '../../kernel/world/sensitive-files.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { findOtherNames } from './aliases.ts';
import { isUnwalked, mayLeadUnwalked, unwalkedTarget } from './symlink-targets.ts';
import { findHiddenBehindSymlinks } from './symlinked-folders.ts';

export interface TreeScan {
  /** Finds every path in the workspace that a run must not read or write. Reads only folders that changed since the last time. */
  find(workspace: string): Promise<readonly ProtectedPath[]>;
}

/** `hidden`: only paths that a run must not read. `protected`: also those that it must not write, which the host obeys. */
export type ScanPurpose = 'hidden' | 'protected';

/** A folder as it was read last. */
interface KnownFolder {
  readonly absolute: string;
  readonly changedMs: number;
  readonly inode: number;
  readonly readAtMs: number;
  readonly names: readonly string[];
  /** Paths of the folders in it that are walked. Kept as strings: creating and hashing them again takes as long as the walk. */
  readonly below: readonly string[];
  readonly found: readonly ProtectedPath[];
  /** Symlinks in it that may lead to a folder that is walked only because of them. */
  readonly leads: readonly string[];
  /** Symlinks in it in place of a folder in which a rule hides something. */
  readonly stands: readonly string[];
}

type JudgedEntries = Pick<KnownFolder, 'names' | 'below' | 'found' | 'leads' | 'stands'>;
type Unread = 'gone' | 'unreadable' | 'failed';

/** Entries that are judged between two checks whether other work should run. */
const BATCH = 256;
/** A change within the clock's granularity after the read would not show, so such a folder is read again. */
const CLOCK_MS = 50;

const SYMLINKED_FOLDER: FileRule = {
  pattern: 'a link in place of a folder with protected files',
  access: 'read-only',
  reason: 'the host takes what it leads to for protected files',
};

const WRITABLE: FileVerdict = { access: 'writable', rule: null };

export function createTreeScan(policy: FilePolicy, purpose: ScanPurpose): TreeScan {
  const workspaces = new Map<string, Map<string, KnownFolder>>();
  const targets = new Map<string, Map<string, ProtectedPath>>();

  async function find(workspace: string): Promise<readonly ProtectedPath[]> {
    const before = workspaces.get(workspace) ?? new Map<string, KnownFolder>();
    const after = new Map<string, KnownFolder>();
    const found: ProtectedPath[] = [];
    const stands: string[] = [];
    const queue = [''];
    using reader = createFolderReader(workspace);
    const yielder = createYielder();
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      if (after.has(path)) continue;
      const known = before.get(path);
      const read = known !== undefined && isAsItWas(known) ? known : await readFolder(reader, path);
      if (read === 'gone') continue;
      if (typeof read === 'string')
        found.push({ path, kind: 'directory', access: 'hidden', rule: null, because: read });
      if (typeof read === 'string') continue;
      after.set(path, read);
      for (const each of read.found) found.push(each);
      for (const each of read.below) queue.push(each);
      for (const each of read.stands) stands.push(each);
      for (const each of read.leads) {
        // The host would enter it by the symlink's name, like any folder of the workspace.
        const target = unwalkedTarget(workspace, each);
        if (target !== null) queue.push(target);
        if (yielder.isDue()) await yielder.pause();
      }
      if (yielder.isDue()) await yielder.pause();
    }
    workspaces.set(workspace, after);
    const all = [...found, ...unlisted(await findHiddenBehindSymlinks(workspace, stands, policy), found)];
    const others = await findOtherNames(
      workspace,
      all,
      () => new Map([...after].map(([path, folder]) => [path, folder.names])),
    );
    return [...all, ...others, ...(await stillHidden(workspace, [...all, ...others]))];
  }

  /** Targets that stay hidden: a run can rename the symlink whose name made its target secret. */
  async function stillHidden(workspace: string, found: readonly ProtectedPath[]): Promise<ProtectedPath[]> {
    const paths = new Set(found.map(({ path }) => path));
    const before = targets.get(workspace) ?? new Map<string, ProtectedPath>();
    targets.set(workspace, before);
    for (const each of found) {
      if (each.access === 'hidden' && (each.because === 'alias' || each.viaSymlink)) before.set(each.path, each);
    }
    const yielder = createYielder();
    const still: ProtectedPath[] = [];
    for (const each of [...before.values()].filter(({ path }) => !paths.has(path))) {
      if (statOf(`${workspace}/${each.path}`) !== undefined) still.push(each);
      if (yielder.isDue()) await yielder.pause();
    }
    return still;
  }

  async function readFolder(reader: FolderReader, path: string): Promise<KnownFolder | Unread> {
    try {
      const readAtMs = Date.now();
      const listed = await reader.read(path);
      const { stat, absolute } = listed;
      return {
        absolute,
        ...(await judgeEntries(path, listed)),
        changedMs: stat.ctimeMs,
        inode: stat.ino,
        readAtMs,
      };
    } catch (error) {
      const errno = errnoOf(error) ?? '';
      // A symlink took its place; or its path is too long, so that it can be neither mounted on nor reached by a path.
      if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].includes(errno)) return 'gone';
      return ['EACCES', 'EPERM'].includes(errno) ? 'unreadable' : 'failed';
    }
  }

  async function judgeEntries(path: string, listed: FolderListing): Promise<JudgedEntries> {
    const below: string[] = [];
    const found: ProtectedPath[] = [];
    const leads: string[] = [];
    const stands: string[] = [];
    const { names, entries, unnameable, absolute } = listed;
    const repository = purpose === 'protected' && isRepository(names);
    const linked = isUnwalked(path) ? ({ viaSymlink: true } as const) : {};
    const yielder = createYielder();
    let count = 0;
    for (const entry of entries) {
      if (++count % BATCH === 0 && yielder.isDue()) await yielder.pause();
      const { name } = entry;
      const kind = kindOf(entry);
      const judged = judge(path, name, kind, repository);
      // The fast path for almost all entries.
      if (kind === 'file' && judged.access === 'writable') continue;
      const full = path === '' ? name : `${path}/${name}`;
      const isNothing = linked.viaSymlink && !mattersInPackages(full, judged);
      const { access, rule } = isNothing ? WRITABLE : judged;
      const isHidden = access === 'hidden' || (access === 'writable' && entry.isSocket());
      if (isHidden)
        found.push({ path: full, kind, access: 'hidden', rule: access === 'hidden' ? rule : null, ...linked });
      else if (access === 'read-only') found.push({ path: full, kind, access, rule, ...linked });
      if (kind === 'directory' && !isHidden && isWalked(full)) below.push(full);
      if (kind !== 'symlink') continue;
      if (mayLeadUnwalked(full, `${absolute}/${name}`)) leads.push(full);
      if (!isHidden && policy.holdsHidden(full)) stands.push(full);
    }
    for (const { entry, name, bytes } of unnameable) {
      const kind = kindOf(entry);
      const full = path === '' ? name : `${path}/${name}`;
      const isWritable = judge(path, name, kind, repository).access === 'writable';
      if (isWritable && kind !== 'directory' && !(kind === 'symlink' && mayLeadUnwalked(full, bytes))) continue;
      found.push({ path: full, kind, access: 'hidden', rule: null, because: 'unnameable' });
    }
    return { names, below, found, leads, stands };
  }

  function judge(folder: string, name: string, kind: ProtectedPath['kind'], isRepository: boolean): FileVerdict {
    const verdict = policy.judgeEntry(folder, name, kind);
    if (purpose === 'hidden') return verdict.access === 'hidden' ? verdict : WRITABLE;
    if (verdict.rule !== null) return verdict;
    const gitRule = gitFileRule(name, kind) ?? (isRepository ? repositoryEntryRule(name) : null);
    const rule = gitRule ?? (kind === 'symlink' ? symlinkRule(policy, folder, name) : null);
    return rule === null ? verdict : { access: rule.access, rule };
  }

  return { find };
}

function symlinkRule(policy: FilePolicy, folder: string, name: string): FileRule | null {
  return policy.holdsProtected(folder === '' ? name : `${folder}/${name}`) ? SYMLINKED_FOLDER : null;
}

function isAsItWas({ absolute, changedMs, inode, readAtMs }: KnownFolder): boolean {
  const stat = statOf(absolute);
  return changedMs === stat?.ctimeMs && inode === stat.ino && stat.ctimeMs < readAtMs - CLOCK_MS;
}

function unlisted(more: readonly ProtectedPath[], found: readonly ProtectedPath[]): ProtectedPath[] {
  if (more.length === 0) return [];
  const hidden = new Set(found.filter(({ access }) => access === 'hidden').map(({ path }) => path));
  return more.filter(({ path }) => !hidden.has(path));
}

/** Packages ship editor settings, which no editor obeys there; a planted repository is obeyed wherever a symlink leads to it. */
function mattersInPackages(path: string, { access, rule }: FileVerdict): boolean {
  return access === 'hidden' || isObeyedByGit(path, rule);
}
