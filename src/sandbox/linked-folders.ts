import { accessSync, constants, type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { type FilePolicy, isWalked } from '../kernel/file-policy.ts';
import { type Found, kindOf } from './found.ts';
import { inFolder } from './inside.ts';
import { createSlices } from './slices.ts';

/** A folder under one of the paths that lead to it. */
interface Visit {
  readonly real: string;
  /** By the links. */
  readonly judged: string;
  /** Where links led to on the way. */
  readonly through: readonly string[];
}

/** Links that lead back make paths without end, but nobody writes a rule for one that goes through the same folder more often. */
const MOST_TIMES = 3;
const MOST_VISITS = 5_000;

/**
 * What is hidden under the path of a link that stands in place of a folder, as `.docker/config.json` is when `.docker` is
 * a link: by its real path no rule may know it. `links` are those in which a rule hides something. Folders that are not
 * walked are looked into only where a link leads there under another name.
 */
export async function hiddenBelow(workspace: string, links: readonly string[], policy: FilePolicy): Promise<Found[]> {
  const found = new Map<string, Found>();
  const queue: Visit[] = [];
  const known = new Set<string>();
  const slices = createSlices();
  for (const link of links.filter(isWalked)) {
    queue.push(...targetOf(workspace, { real: link, judged: link, through: [] }));
    if (slices.isOver()) await slices.next();
  }
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    const key = `${at.real}\0${at.judged}`;
    if (known.has(key)) continue;
    if (known.add(key).size > MOST_VISITS) return [...found.values(), notLookedInto(at.real)];
    const entries = entriesOf(workspace, at.real);
    if (entries === null) found.set(at.real, notLookedInto(at.real));
    for (const entry of entries ?? []) {
      const below = { ...at, real: join(at.real, entry.name), judged: join(at.judged, entry.name) };
      const kind = kindOf(entry);
      const { access, rule } = policy.judgeEntry(at.judged, entry.name);
      if (access === 'hidden') found.set(below.real, { path: below.real, kind, access, rule, because: 'alias' });
      else if (!policy.holdsHidden(below.judged) || !isWalked(below.judged)) continue;
      else if (kind === 'folder' && isWalked(below.real)) queue.push(below);
      else if (kind === 'link') queue.push(...targetOf(workspace, below));
      if (slices.isOver()) await slices.next();
    }
    if (slices.isOver()) await slices.next();
  }
  return [...found.values()];
}

/** The folder that a link leads to, if it is in the workspace. */
function targetOf(workspace: string, link: Visit): Visit[] {
  try {
    const real = realpathSync.native(`${workspace}/${link.real}`);
    if (!`${real}/`.startsWith(`${workspace}/`) || !lstatSync(real).isDirectory()) return [];
    const path = real.slice(workspace.length + 1);
    const isRound = link.through.filter((each) => each === path).length >= MOST_TIMES;
    return isRound ? [] : [{ ...link, real: path, through: [...link.through, path] }];
  } catch {
    return [];
  }
}

/** None of a folder that is gone, or that the walk hides as a whole since nobody may look into it; null of one that could not be read now. */
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

function notLookedInto(path: string): Found {
  return { path, kind: 'folder', access: 'hidden', rule: null, because: 'failed' };
}

function join(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
