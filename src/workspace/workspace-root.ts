import { realpathSync, type Stats } from 'node:fs';
import { resolve } from 'node:path';
import { GitConfigFiles } from '../git/config-files.ts';
import { isGitPath, ObeyedPaths } from '../git/obeyed-paths.ts';
import { catchErrno } from '../host/errno.ts';
import { Folder } from '../host/folder.ts';
import { parsePath, type RootNames, shortPath } from '../host/parse-path.ts';
import { typeOf } from '../host/visit-tree.ts';
import { type ResolvedPath, type WalkOptions, walkPath } from '../host/walk-path.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { howToFree, secretDetails } from '../kernel/world/decided-files.ts';
import type { EntryKind, FilePolicy } from '../kernel/world/file-policy.ts';
import { PublicFiles } from '../secrets/public-files.ts';

const OWN_FOLDER = '.toolwright';

/** The folder of a view that is mounted anew from time to time. */
export type ViewFolder = () => Folder;

export interface RootOptions {
  /** Absolute: the state directory and the like, out of reach if they lie inside. */
  readonly ownFolders?: readonly string[];
  /** Where the user's own git configuration is. */
  readonly home?: string | null;
  /** Left out: the folder itself. Else paths are looked up in this view, and have the same names. */
  readonly view?: ViewFolder | null;
}

/** A workspace root with its file policy: where every path that a tool gives is looked up and judged. */
export class WorkspaceRoot {
  readonly names: RootNames;
  readonly policy: FilePolicy;
  #root: Folder;
  readonly #view: ViewFolder | null;
  readonly #ownFolders: readonly string[];
  readonly #git: ObeyedPaths;
  readonly #publicFiles = new PublicFiles();

  constructor(given: string, policy: FilePolicy, { ownFolders = [], home = null, view = null }: RootOptions = {}) {
    const real = realpathSync(given);
    this.names = { real, given: resolve(given) };
    this.policy = policy;
    this.#view = view;
    this.#root = view?.() ?? Folder.openShared(real);
    this.#git = new ObeyedPaths(real, home, new GitConfigFiles());
    this.#ownFolders = ownFolders.flatMap((folder) => [folder, realOrSame(folder)]).map((folder) => `${folder}/`);
  }

  get folder(): Folder {
    return this.#view === null ? this.#root : this.#view();
  }

  /** It has no files of its own on the disk: what is written there need not outlast a power cut. */
  get isView(): boolean {
    return this.#view !== null;
  }

  /** Looks a path up, for `becomes` where nothing is there yet. The caller closes the folder of the answer. */
  locate(path: string, options: WalkOptions & { readonly becomes?: EntryKind | undefined }): Result<ResolvedPath> {
    const parsed = parsePath(path, this.names);
    if (!parsed.ok) return parsed;
    const make = options.make === undefined ? {} : { make: (folder: string) => this.#mayMake(folder, options) };
    return catchErrno(path, () => {
      const spot = this.#walk(parsed.value, { ...options, ...make });
      return this.#judged(spot, (each, kind) => this.refuses(each, kind ?? options.becomes));
    });
  }

  /** Looks a path up for the person whose workspace it is, secrets included. The caller closes the folder of the answer. */
  locateForOwner(path: string): Result<ResolvedPath> {
    const parsed = parsePath(path, this.names);
    if (!parsed.ok) return parsed;
    return catchErrno(path, () => {
      const spot = this.#walk(parsed.value, { last: 'follow' });
      return this.#judged(spot, (each) => this.#refusesOwn(each));
    });
  }

  /** Why a change of this path needs approval; null when it does not. The path need not exist. */
  protection(spot: Pick<ResolvedPath, 'path' | 'via'>): string | null {
    const at = (path: string): Stats | null => this.statUnjudged(path);
    for (const path of [spot.path, ...spot.via]) {
      const why = this.#listed(path) ?? this.#git.reasonFor(path, this.#git.configuredFor(path), at);
      if (why !== null) return `${shortPath(path)} is protected: ${why}.`;
    }
    return null;
  }

  /** The same for paths below a folder that is to be moved, as they will be. */
  protectionBelow(from: string, to: string): (path: string) => string | null {
    const configured = this.#git.configuredFor(to);
    return (path) => {
      const at = (asked: string) => (asked === path ? this.statUnjudged(`${from}${path.slice(to.length)}`) : null);
      const why = this.#listed(path) ?? this.#git.reasonFor(path, configured, at);
      return why === null ? null : `${shortPath(path)} is protected: ${why}.`;
    };
  }

  /** Names count, not what exists. */
  #listed(path: string): string | null {
    const { access, rule } = this.policy.judge(path);
    if (access === 'read-only') return rule?.reason ?? 'the rules say so';
    return isGitPath(path) ? 'it belongs to git' : null;
  }

  /** Refuses sensitive files and Toolwright's own, which no approval allows. */
  refuses(path: string, kind?: EntryKind): Result<void> {
    const own = this.#refusesOwn(path);
    if (!own.ok) return own;
    const { access, rule } = this.policy.judge(path, kind);
    if (access !== 'hidden' || (rule?.unless === 'public content' && this.#isPublic(path))) return ok(undefined);
    const why = rule?.reason ?? 'the rules say so';
    const message = `${shortPath(path)} is a sensitive file (${why}): tools cannot use it. ${howToFree(this.policy, path)}`;
    return fail('PERMISSION_DENIED', message, { rule: rule?.pattern ?? null, ...secretDetails(this.policy, path) });
  }

  #refusesOwn(path: string): Result<void> {
    if (!this.isOwn(path)) return ok(undefined);
    return fail('PERMISSION_DENIED', `${shortPath(path)} is Toolwright's own and out of reach for tools.`, { path });
  }

  /** Whether the file is there and its content holds no secret: its name alone says nothing then. */
  #isPublic(path: string): boolean {
    const parsed = parsePath(path, this.names);
    const spot = parsed.ok ? catchErrno(path, () => this.#walk(parsed.value, { last: 'keep' })) : parsed;
    if (!spot.ok) return false;
    try {
      return spot.value.path === path && this.#publicFiles.has(spot.value);
    } finally {
      spot.value.folder.close();
    }
  }

  /** Stats a path without judging it: that a sensitive file exists is no secret. Null when nothing is there. */
  statUnjudged(path: string): Stats | null {
    const parsed = parsePath(path, this.names);
    const spot = parsed.ok ? catchErrno(path, () => this.#walk(parsed.value, { last: 'keep' })) : parsed;
    if (!spot.ok) return null;
    spot.value.folder.close();
    return spot.value.path === path ? spot.value.stat : null;
  }

  close(): void {
    if (this.#view === null) this.#root.dispose();
  }

  /** A workspace that was removed and made again is opened again, once. */
  #walk(names: readonly string[], options: WalkOptions): Result<ResolvedPath> {
    const spot = walkPath(this.folder, this.names, names, options);
    if (spot.ok || this.#view !== null || this.#root.isInPlace()) return spot;
    const fresh = Folder.openShared(this.names.real);
    this.#root.dispose();
    this.#root = fresh;
    return walkPath(this.#root, this.names, names, options);
  }

  #judged(
    spot: Result<ResolvedPath>,
    refuses: (path: string, kind: EntryKind | undefined) => Result<void>,
  ): Result<ResolvedPath> {
    if (!spot.ok) return spot;
    const kind = spot.value.stat === null ? undefined : typeOf(spot.value.stat);
    for (const path of [spot.value.path, ...spot.value.via]) {
      const refused = refuses(path, kind);
      if (refused.ok) continue;
      spot.value.folder.close();
      return refused;
    }
    return spot;
  }

  #mayMake(folder: string, options: WalkOptions): Result<void> {
    const refused = this.refuses(folder, 'directory');
    return refused.ok ? (options.make?.(folder) ?? refused) : refused;
  }

  /** Toolwright's own files and folders. */
  isOwn(path: string): boolean {
    const [top = ''] = path.split('/', 1);
    if (top.toLowerCase() === OWN_FOLDER) return true;
    const absolute = `${this.names.real}/${path}/`;
    return this.#ownFolders.some((own) => absolute.startsWith(own));
  }
}

function realOrSame(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}
