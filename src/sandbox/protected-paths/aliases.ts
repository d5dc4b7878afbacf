import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { statOf } from '../../host/files.ts';
import { createFolderReader, type FolderReader } from '../../host/read-folder.ts';
import { isWalked } from '../../kernel/world/file-policy.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import { createYielder, type Yielder } from '../../kernel/yielding.ts';

/**
 * Finds other names of hidden and protected files: hard links, and the targets of symlinks with such a name. Both are rare,
 * so the workspace is searched only when there is one.
 */
export async function findOtherNames(
  workspace: string,
  found: readonly ProtectedPath[],
  names: () => ReadonlyMap<string, readonly string[]>,
): Promise<ProtectedPath[]> {
  // Repositories behind a symlink called .git or .git/modules must stay writable; obeyed paths in them are found by shape.
  const links = found.filter(({ kind, path }) => kind === 'symlink' && !/(^|\/)\.git(\/modules)?$/i.test(path));
  const yielder = createYielder();
  const targets: ProtectedPath[] = [];
  for (const link of links) {
    targets.push(...targetOf(workspace, link));
    if (yielder.isDue()) await yielder.pause();
  }
  const shared = await sharedFiles(workspace, [...found, ...targets], yielder);
  return shared.size === 0 ? targets : [...targets, ...(await hardLinks(workspace, shared, names(), yielder))];
}

function targetOf(workspace: string, link: ProtectedPath): ProtectedPath[] {
  try {
    const target = realpathSync(`${workspace}/${link.path}`);
    if (!target.startsWith(`${workspace}/`)) return [];
    const kind = lstatSync(target).isDirectory() ? 'directory' : 'file';
    const because = link.access === 'hidden' ? 'alias' : 'target';
    const { access, rule } = link;
    return [{ path: target.slice(workspace.length + 1), kind, access, rule, because }];
  } catch {
    return [];
  }
}

interface SharedFile {
  access: ProtectedPath['access'];
  readonly secret: string | undefined;
  /** Names that are protected already. */
  readonly known: Set<string>;
  links: number;
}

type SharedFiles = Map<string, SharedFile>;

async function sharedFiles(workspace: string, found: readonly ProtectedPath[], yielder: Yielder): Promise<SharedFiles> {
  const shared: SharedFiles = new Map();
  const note = (path: string, { access, secret }: ProtectedPath, stat: Stats): void => {
    if (stat.nlink < 2) return;
    const file = shared.get(identity(stat)) ?? { access, secret, known: new Set(), links: stat.nlink };
    file.known.add(path);
    if (access === 'hidden') file.access = 'hidden';
    shared.set(identity(stat), file);
  };
  for (const each of found) {
    const { path, kind } = each;
    // A package manager may keep hard links of all packages elsewhere: searching them would slow down every run.
    if (each.viaSymlink) continue;
    if (kind === 'directory') await eachFile(workspace, path, yielder, (file, stat) => note(file, each, stat));
    const stat = kind === 'file' && each.because !== 'unread' ? statOf(`${workspace}/${path}`) : undefined;
    if (stat !== undefined) note(path, each, stat);
    if (yielder.isDue()) await yielder.pause();
  }
  return shared;
}

async function hardLinks(
  workspace: string,
  shared: SharedFiles,
  names: ReadonlyMap<string, readonly string[]>,
  yielder: Yielder,
): Promise<ProtectedPath[]> {
  const result: ProtectedPath[] = [];
  const unwalked: string[] = [];
  const look = (path: string, stat: Stats): void => {
    const file = shared.get(identity(stat));
    if (file === undefined || file.known.has(path)) return;
    file.known.add(path);
    const { access, secret } = file;
    result.push({ path, kind: 'file', access, rule: null, because: 'alias', ...(secret !== undefined && { secret }) });
  };
  for (const [folder, entries] of names) {
    for (const name of entries) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const stat = statOf(`${workspace}/${path}`);
      if (stat?.isFile()) look(path, stat);
      else if (stat?.isDirectory() && !isWalked(path)) unwalked.push(path);
      if (yielder.isDue()) await yielder.pause();
    }
  }
  const isComplete = [...shared.values()].every(({ known, links }) => known.size >= links);
  // A folder that cannot be listed now can be once its owner, the user of the run, allows it.
  const hide = (path: string): void => {
    result.push({ path, kind: 'directory', access: 'hidden', rule: null, because: 'unreadable' });
  };
  if (!isComplete) for (const folder of unwalked) await eachFile(workspace, folder, yielder, look, hide);
  return result;
}

async function eachFile(
  workspace: string,
  folder: string,
  yielder: Yielder,
  use: (path: string, stat: Stats) => void,
  onUnreadable: (path: string) => void = () => {},
): Promise<void> {
  using reader = createFolderReader(workspace);
  const queue = [folder];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const names = await namesIn(reader, path);
    if (names === null) onUnreadable(path);
    for (const name of names ?? []) {
      const stat = statOf(`${workspace}/${path}/${name}`);
      if (stat?.isDirectory()) queue.push(`${path}/${name}`);
      else if (stat?.isFile()) use(`${path}/${name}`, stat);
      if (yielder.isDue()) await yielder.pause();
    }
  }
}

/** Null when its entries may not be read: without search permission only their names would be known. */
async function namesIn(reader: FolderReader, folder: string): Promise<readonly string[] | null> {
  try {
    return (await reader.read(folder)).names;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '') ? [] : null;
  }
}

function identity({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
