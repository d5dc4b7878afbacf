import { mkdirSync, type Stats } from 'node:fs';
import { posix } from 'node:path';
import { fail, ok, type Result } from '../kernel/result.ts';
import { errnoOf } from './errno.ts';
import type { Folder } from './folder.ts';
import { belowRoot, namesOf, outsideWorkspace, type RootNames, shortPath } from './parse-path.ts';

/** A name in an open folder, so that it can be used without looking the path up again. */
export interface ResolvedPath {
  readonly folder: Folder;
  /** Empty for the root itself. */
  readonly name: string;
  /** The real path, relative to the root. */
  readonly path: string;
  /** Of the name itself; null when nothing is there. */
  readonly stat: Stats | null;
  /** Paths of the symlinks that were followed, then the path that was asked for, then the path after each symlink. */
  readonly via: readonly string[];
  /** Folders that were made on the way, outermost first. */
  readonly made: readonly string[];
}

export interface WalkOptions {
  /** Whether a symlink as the last name is followed. */
  readonly last: 'follow' | 'keep';
  /** Missing folders are made, each only if this call allows it; its refusal ends the walk. */
  readonly make?: (path: string) => Result<void>;
}

/** The real path that a path would have if it existed, given with the failure. */
export interface MissingPath {
  readonly path: string;
  readonly via: readonly string[];
}

export function missingPathOf(failure: Result<unknown>): MissingPath | undefined {
  return failure.ok ? undefined : (failure.error.details?.wouldBe as MissingPath | undefined);
}

const MAX_SYMLINKS = 40;

/**
 * Walks from the root to the last folder of a path, opening each folder from the one before it and never through a
 * symlink. A symlink is read and its target walked in the same way from the root: symlinks inside the workspace work,
 * and nothing outside is ever opened, whatever is swapped meanwhile. The caller closes `folder`. Throws what the system
 * throws.
 */
export function walkPath(
  root: Folder,
  names: RootNames,
  wanted: readonly string[],
  options: WalkOptions,
): Result<ResolvedPath> {
  const via: string[] = [];
  const meant: string[] = [];
  const made: string[] = [];
  let done: string[] = [];
  let pending = [...wanted];
  let folder = root;
  const given = wanted.join('/');

  try {
    for (;;) {
      const name = pending.shift();
      if (name === undefined) return found({ folder, name: '', stat: folder.stat('') });
      if (name === '..') {
        if (done.pop() === undefined) return escaped();
        restart();
        continue;
      }
      const isLast = pending.length === 0;
      const stat = isLast ? folder.stat(name) : null;
      if (isLast && !(stat?.isSymbolicLink() && options.last === 'follow')) {
        return found({ folder, name, stat });
      }
      const child = isLast ? null : descend(name);
      if (child !== null) {
        folder.close();
        folder = child;
        done.push(name);
        continue;
      }
      const target = readTarget(name);
      if (target === undefined) return missing(name);
      via.push(folder.pathOf(name));
      if (via.length > MAX_SYMLINKS) return circular();
      const inside = target.startsWith('/') ? belowRoot(target, names) : target;
      if (inside === undefined) return escaped();
      if (target.startsWith('/')) done = [];
      pending = [...namesOf(inside), ...pending];
      meant.push(namesOf(posix.join(...done, ...pending)).join('/'));
      restart();
    }
  } catch (thrown) {
    folder.close();
    throw thrown;
  }

  function descend(name: string): Folder | null {
    try {
      return folder.openChild(name);
    } catch (thrown) {
      const errno = errnoOf(thrown);
      if (errno === 'ENOENT' && options.make !== undefined) return makeChild(name);
      if (errno === 'ENOTDIR' || errno === 'ELOOP' || errno === 'ENOENT') return null;
      throw thrown;
    }
  }

  function makeChild(name: string): Folder | null {
    const path = folder.pathOf(name);
    if (!options.make?.(path).ok) return null;
    try {
      mkdirSync(folder.at(name));
      made.push(path);
    } catch (thrown) {
      if (errnoOf(thrown) !== 'EEXIST') throw thrown;
    }
    return folder.openChild(name);
  }

  function readTarget(name: string): string | undefined {
    try {
      return folder.readLink(name);
    } catch (thrown) {
      if (errnoOf(thrown) === 'EINVAL' || errnoOf(thrown) === 'ENOENT') return undefined;
      throw thrown;
    }
  }

  /** `done` names real folders only, so its path can be opened again name by name. */
  function restart(): void {
    pending = [...done, ...pending];
    done = [];
    folder.close();
    folder = root;
  }

  function found(spot: { folder: Folder; name: string; stat: Stats | null }): Result<ResolvedPath> {
    if (!spot.folder.isInPlace()) {
      folder.close();
      return fail('CONFLICT', `${shortPath(given)} was moved while it was looked up: try again.`, { moved: true });
    }
    const path = spot.name === '' ? spot.folder.path : spot.folder.pathOf(spot.name);
    return ok({ ...spot, path, via: followed(), made });
  }

  /** A rule may name only the path by the symlinks: when one stands for a protected folder, or leads where nothing is walked. */
  function followed(): string[] {
    return via.length === 0 ? via : [...via, given, ...meant];
  }

  function escaped(): Result<never> {
    folder.close();
    return outsideWorkspace(given);
  }

  function circular(): Result<never> {
    folder.close();
    return fail('INVALID_PATH', `${shortPath(given)} leads through too many links.`);
  }

  function missing(name: string): Result<never> {
    const at = folder.pathOf(name);
    const stat = folder.stat(name);
    const refused = stat === null && options.make !== undefined ? options.make(at) : ok(undefined);
    folder.close();
    // A new file is judged by the place where it would stand, not by the symlinks that lead there.
    const wouldBe: MissingPath = { path: namesOf(posix.join(at, ...pending)).join('/'), via: followed() };
    if (!refused.ok) return { ...refused, error: { ...refused.error, details: { ...refused.error.details, wouldBe } } };
    return stat === null
      ? fail('FILE_NOT_FOUND', `${shortPath(given)} was not found: there is no folder ${shortPath(at)}.`, {
          path: shortPath(given),
          wouldBe,
        })
      : fail('INVALID_PATH', `${shortPath(given)} leads through ${shortPath(at)}, which is not a folder.`, {
          path: shortPath(given),
        });
  }
}
