import { accessSync, constants, lstatSync, readdirSync } from 'node:fs';
import { type FilePolicy, type FileRule, type FileVerdict, isWalked } from '../kernel/file-policy.ts';
import { type Found, kindOf } from './found.ts';
import { gitRule, isForGit, isRepository, namedByConfig } from './git-folders.ts';
import { statOf } from './inside.ts';
import { hiddenBelow } from './linked-folders.ts';
import { otherNames } from './other-names.ts';
import { isUnwalked, mayLeadUnwalked, unwalkedTarget } from './unwalked-targets.ts';

export interface TreeScan {
  /** Everything in the workspace that needs a mount of its own. Reads only folders that changed since the last time. */
  find(workspace: string): Promise<readonly Found[]>;
  /** Names by folder as of the last `find`, for telling what was deleted. */
  names(workspace: string): ReadonlyMap<string, readonly string[]>;
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

type Unread = 'gone' | 'unreadable' | 'failed';

/** Let other work run after so long: a first scan of a large tree takes longer than one turn may. */
const SLICE_MS = 8;
/** What bytes that are no text are read as. */
const NO_TEXT = '\uFFFD';
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

  async function find(workspace: string): Promise<readonly Found[]> {
    const before = workspaces.get(workspace) ?? new Map<string, Folder>();
    const after = new Map<string, Folder>();
    const found: Found[] = [];
    const stands: string[] = [];
    const queue = [''];
    let sliceStart = performance.now();
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      if (after.has(path)) continue;
      const known = before.get(path);
      const read = readFolder(workspace, path, known);
      if (read === 'gone') continue;
      if (typeof read === 'string') found.push({ path, kind: 'folder', access: 'hidden', rule: null, because: read });
      // What was known of it before still counts: nothing in it is taken for deleted.
      const folder = read === 'failed' ? known : read;
      if (folder === undefined || folder === 'unreadable') continue;
      after.set(path, folder);
      for (const each of folder.found) found.push(each);
      for (const each of folder.below) queue.push(each);
      for (const each of folder.stands) stands.push(each);
      for (const each of folder.leads) {
        // The host would go there by the link's name, as to any folder of the workspace.
        const target = unwalkedTarget(workspace, each);
        if (target !== null) queue.push(target);
      }
      if (performance.now() - sliceStart > SLICE_MS) {
        await new Promise((resolve) => setImmediate(resolve));
        sliceStart = performance.now();
      }
    }
    workspaces.set(workspace, after);
    const all = [
      ...found,
      ...namedByConfig(workspace, found, home),
      ...unlisted(hiddenBelow(workspace, stands, policy), found),
    ];
    const others = otherNames(workspace, all, () => names(workspace));
    return [...all, ...others, ...stillHidden(workspace, [...all, ...others])];
  }

  /** A link can be renamed from inside, and with it what says that its target is secret: once hidden, that stays so. */
  function stillHidden(workspace: string, found: readonly Found[]): Found[] {
    const paths = new Set(found.map(({ path }) => path));
    const before = targets.get(workspace) ?? new Map<string, Found>();
    targets.set(workspace, before);
    for (const each of found) {
      if (each.access === 'hidden' && (each.because === 'alias' || each.linked)) before.set(each.path, each);
    }
    return [...before.values()].filter(({ path }) => !paths.has(path) && statOf(`${workspace}/${path}`) !== undefined);
  }

  function readFolder(workspace: string, path: string, known: Folder | undefined): Folder | Unread {
    const absolute = known?.absolute ?? (path === '' ? workspace : `${workspace}/${path}`);
    try {
      const { ctimeMs, ino } = lstatSync(absolute);
      if (known !== undefined && known.changedMs === ctimeMs && known.inode === ino) {
        if (ctimeMs < known.readAtMs - CLOCK_MS) return known;
      }
      const readAtMs = Date.now();
      accessSync(absolute, constants.R_OK | constants.X_OK);
      return { absolute, ...judgeEntries(path, absolute), changedMs: ctimeMs, inode: ino, readAtMs };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // One that is too deep to be named can be neither mounted on nor reached by anybody's path.
      if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(code ?? '')) return 'gone';
      return ['EACCES', 'EPERM'].includes(code ?? '') ? 'unreadable' : 'failed';
    }
  }

  function judgeEntries(
    path: string,
    absolute: string,
  ): Pick<Folder, 'names' | 'below' | 'found' | 'leads' | 'stands'> {
    const names: string[] = [];
    const below: string[] = [];
    const found: Found[] = [];
    const leads: string[] = [];
    const stands: string[] = [];
    const entries = readdirSync(absolute, { withFileTypes: true });
    for (const { name } of entries) names.push(name);
    const repository = isRepository(names);
    const linked = isUnwalked(path) ? ({ linked: true } as const) : {};
    for (const entry of entries) {
      const { name } = entry;
      const kind = kindOf(entry);
      const full = path === '' ? name : `${path}/${name}`;
      const verdict = policy.judgeEntry(path, name);
      const further = verdict.rule === null ? (gitRule(name, kind, repository) ?? linkRule(full, kind)) : null;
      const judged = further === null ? verdict : { access: further.access, rule: further };
      const { access, rule } = linked.linked && !mattersInPackages(full, judged) ? WRITABLE : judged;
      const matters = kind === 'folder' || access !== 'writable';
      if (matters && name.includes(NO_TEXT) && statOf(`${absolute}/${name}`) === undefined) {
        found.push({ path: full, kind, access: 'hidden', rule: null, because: 'unnameable' });
        continue;
      }
      if (access !== 'writable') found.push({ path: full, kind, access, rule, ...linked });
      // A socket is a door to whatever process of the host listens on it.
      else if (entry.isSocket()) found.push({ path: full, kind: 'other', access: 'hidden', rule: null, ...linked });
      if (kind === 'folder' && access !== 'hidden' && isWalked(full)) below.push(full);
      if (kind === 'link' && access !== 'hidden' && mayLeadUnwalked(full, `${absolute}/${name}`)) leads.push(full);
      if (kind === 'link' && access !== 'hidden' && policy.holdsHidden(full)) stands.push(full);
    }
    return { names, below, found, leads, stands };
  }

  function linkRule(path: string, kind: Found['kind']): FileRule | null {
    return kind === 'link' && policy.holdsProtected(path) ? LINKED_FOLDER : null;
  }

  function names(workspace: string): ReadonlyMap<string, readonly string[]> {
    const folders = workspaces.get(workspace) ?? new Map<string, Folder>();
    return new Map([...folders].map(([path, folder]) => [path, folder.names]));
  }

  return { find, names };
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
