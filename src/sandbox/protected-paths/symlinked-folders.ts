import { accessSync, constants, type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { inFolder } from '../../host/read-inside.ts';
import { type FilePolicy, isWalked } from '../../kernel/world/file-policy.ts';
import { kindOf, type ProtectedPath } from '../../kernel/world/protected-path.ts';
import { createYielder } from '../../kernel/yielding.ts';

/** A folder, and one of the paths that lead to it. */
interface FolderVisit {
  readonly real: string;
  /** The path through the symlinks, by which it is judged. */
  readonly judged: string;
  /** The targets of symlinks on the way. */
  readonly through: readonly string[];
}

/** Symlinks that lead back make endless paths. No rule has a path that passes the same folder more often than this. */
const MAX_PASSES = 3;
const MAX_VISITS = 5_000;

/**
 * Finds hidden paths behind symlinks that stand in place of a folder, such as `.docker/config.json` when `.docker` is a
 * symlink: no rule may match the real path. `links` are the symlinks behind which a rule hides something. Folders that are
 * not walked are read only where a symlink leads there under another name.
 */
export async function findHiddenBehindSymlinks(
  workspace: string,
  links: readonly string[],
  policy: FilePolicy,
): Promise<ProtectedPath[]> {
  const found = new Map<string, ProtectedPath>();
  const queue: FolderVisit[] = [];
  const known = new Set<string>();
  const yielder = createYielder();
  for (const link of links.filter(isWalked)) {
    queue.push(...targetOf(workspace, { real: link, judged: link, through: [] }));
    if (yielder.isDue()) await yielder.pause();
  }
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    const key = `${at.real}\0${at.judged}`;
    if (known.has(key)) continue;
    if (known.add(key).size > MAX_VISITS) return [...found.values(), unreadableFolder(at.real)];
    const entries = entriesOf(workspace, at.real);
    if (entries === null) found.set(at.real, unreadableFolder(at.real));
    for (const entry of entries ?? []) {
      const below = { ...at, real: join(at.real, entry.name), judged: join(at.judged, entry.name) };
      const kind = kindOf(entry);
      const { access, rule } = policy.judgeEntry(at.judged, entry.name, kind);
      if (access === 'hidden') found.set(below.real, { path: below.real, kind, access, rule, because: 'alias' });
      else if (!policy.holdsHidden(below.judged) || !isWalked(below.judged)) continue;
      else if (kind === 'directory' && isWalked(below.real)) queue.push(below);
      else if (kind === 'symlink') queue.push(...targetOf(workspace, below));
      if (yielder.isDue()) await yielder.pause();
    }
    if (yielder.isDue()) await yielder.pause();
  }
  return [...found.values()];
}

/** The folder that a symlink leads to, if it is in the workspace. */
function targetOf(workspace: string, link: FolderVisit): FolderVisit[] {
  try {
    const real = realpathSync.native(`${workspace}/${link.real}`);
    if (!`${real}/`.startsWith(`${workspace}/`) || !lstatSync(real).isDirectory()) return [];
    const path = real.slice(workspace.length + 1);
    const isRound = link.through.filter((each) => each === path).length >= MAX_PASSES;
    return isRound ? [] : [{ ...link, real: path, through: [...link.through, path] }];
  } catch {
    return [];
  }
}

/** Empty for a folder that is gone, or that is hidden as a whole because it may not be read; null for one that could not be read now. */
function entriesOf(workspace: string, path: string): Dirent[] | null {
  const read = inFolder(workspace, path, (folder) => [readdirSync(folder, { withFileTypes: true })])[0];
  if (read !== undefined) return read;
  try {
    accessSync(`${workspace}/${path}`, constants.R_OK | constants.X_OK);
    return null;
  } catch {
    return [];
  }
}

function unreadableFolder(path: string): ProtectedPath {
  return { path, kind: 'directory', access: 'hidden', rule: null, because: 'failed' };
}

function join(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
