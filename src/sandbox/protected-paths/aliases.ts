import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { isWalked } from '../../kernel/file-policy.ts';
import { createFolderReader, type FolderReader } from '../../host/read-folder.ts';
import type { Found } from '../found.ts';
import { statOf } from '../inside.ts';
import { createSlices, type Slices } from '../slices.ts';

/**
 * A hidden or protected file may have other names: hard links, and the target of a link with such a name. Both are
 * rare, so the price of looking for them is paid only when there is one.
 */
export async function otherNames(
  workspace: string,
  found: readonly Found[],
  names: () => ReadonlyMap<string, readonly string[]>,
): Promise<Found[]> {
  // Repositories that a link called .git or .git/modules leads to must stay writable; what matters in them is found by
  // its shape.
  const links = found.filter(({ kind, path }) => kind === 'link' && !/(^|\/)\.git(\/modules)?$/i.test(path));
  const slices = createSlices();
  const targets: Found[] = [];
  for (const link of links) {
    targets.push(...targetOf(workspace, link));
    if (slices.isOver()) await slices.next();
  }
  const shared = await sharedFiles(workspace, [...found, ...targets], slices);
  return shared.size === 0 ? targets : [...targets, ...(await hardLinks(workspace, shared, names(), slices))];
}

function targetOf(workspace: string, link: Found): Found[] {
  try {
    const target = realpathSync(`${workspace}/${link.path}`);
    if (!target.startsWith(`${workspace}/`)) return [];
    const kind = lstatSync(target).isDirectory() ? 'folder' : 'file';
    const because = link.access === 'hidden' ? 'alias' : 'target';
    const { access, rule } = link;
    return [{ path: target.slice(workspace.length + 1), kind, access, rule, because }];
  } catch {
    return [];
  }
}

interface Shared {
  access: Found['access'];
  /** Names that are covered already. */
  readonly known: Set<string>;
  links: number;
}

type SharedFiles = Map<string, Shared>;

async function sharedFiles(workspace: string, found: readonly Found[], slices: Slices): Promise<SharedFiles> {
  const shared: SharedFiles = new Map();
  const note = (path: string, access: Found['access'], stat: Stats): void => {
    if (stat.nlink < 2) return;
    const file = shared.get(identity(stat)) ?? { access, known: new Set(), links: stat.nlink };
    file.known.add(path);
    if (access === 'hidden') file.access = 'hidden';
    shared.set(identity(stat), file);
  };
  for (const { path, kind, access, linked } of found) {
    // A package manager may keep further names of all packages elsewhere: to look for those would take every run long.
    if (linked) continue;
    if (kind === 'folder') await eachFile(workspace, path, slices, (file, stat) => note(file, access, stat));
    const stat = kind === 'file' ? statOf(`${workspace}/${path}`) : undefined;
    if (stat !== undefined) note(path, access, stat);
    if (slices.isOver()) await slices.next();
  }
  return shared;
}

async function hardLinks(
  workspace: string,
  shared: SharedFiles,
  names: ReadonlyMap<string, readonly string[]>,
  slices: Slices,
): Promise<Found[]> {
  const result: Found[] = [];
  const unwalked: string[] = [];
  const look = (path: string, stat: Stats): void => {
    const file = shared.get(identity(stat));
    if (file === undefined || file.known.has(path)) return;
    file.known.add(path);
    result.push({ path, kind: 'file', access: file.access, rule: null, because: 'alias' });
  };
  for (const [folder, entries] of names) {
    for (const name of entries) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const stat = statOf(`${workspace}/${path}`);
      if (stat?.isFile()) look(path, stat);
      else if (stat?.isDirectory() && !isWalked(path)) unwalked.push(path);
      if (slices.isOver()) await slices.next();
    }
  }
  const isComplete = [...shared.values()].every(({ known, links }) => known.size >= links);
  // What cannot be listed now can be once its owner, which the run is, allows it.
  const hide = (path: string): void => {
    result.push({ path, kind: 'folder', access: 'hidden', rule: null, because: 'unreadable' });
  };
  if (!isComplete) for (const folder of unwalked) await eachFile(workspace, folder, slices, look, hide);
  return result;
}

async function eachFile(
  workspace: string,
  folder: string,
  slices: Slices,
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
      if (slices.isOver()) await slices.next();
    }
  }
}

/** Null when its entries may not be seen: without the right to search it, their names could, but nothing more. */
async function namesIn(reader: FolderReader, folder: string): Promise<readonly string[] | null> {
  try {
    return (await reader.read(folder)).names;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '') ? [] : null;
  }
}

function identity({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
