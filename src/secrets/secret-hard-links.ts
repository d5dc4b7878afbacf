import { isGitConfig } from '../git/credentials.ts';
import type { Folder } from '../host/folder.ts';
import { MAX_WHOLE_BYTES, readEntry } from '../host/open-file.ts';
import { shortPath } from '../host/parse-path.ts';
import { visitTree } from '../host/visit-tree.ts';
import { fail, type Result } from '../kernel/result.ts';
import { howToFree, secretDetails } from '../kernel/world/decided-files.ts';
import { type FilePolicy, liesUnwalked } from '../kernel/world/file-policy.ts';
import { judgeSecretFile } from './judge-secret-file.ts';
import { isReadAlike } from './secret-in-file.ts';

const FRESH_MS = 1000;
/** Coarser than the clock of any common file system. */
const CLOCK_TICK_MS = 50;

/** A folder with everything below it, and the policy that says which of its files are sensitive. */
export interface PolicedTree {
  readonly policy: FilePolicy;
  readonly folder: Folder;
}

export type FileIdentity = {
  readonly dev: number;
  readonly ino: number;
  readonly nlink: number;
  readonly ctimeMs: number;
};

export interface SharedFile {
  readonly path: string;
  readonly stat: FileIdentity;
}

export interface HardLinkOptions {
  /** In an overlay files keep the inode number of the real one, and have another device: this says what is compared. */
  readonly by?: 'device and inode' | 'inode';
  /** Where the journal keeps old versions, which may be hard links of files in the workspace. */
  readonly images?: Folder | null;
}

/** The names that a file with several has in the workspace, as far as it is walked. It is sensitive if it is so by one of them. */
interface LinkedFile {
  readonly nlink: number;
  readonly paths: string[];
  isSensitive: boolean;
}

interface Census {
  readonly startedAt: number;
  readonly files: ReadonlyMap<string, LinkedFile>;
}

/**
 * Detects hard links to sensitive files and to files outside the workspace. Looks only for files that have more than one name,
 * which are rare; in folders that are not walked, such as node_modules, they are common and allowed.
 */
export class SecretHardLinks {
  readonly #tree: PolicedTree;
  readonly #hasDevice: boolean;
  readonly #images: Folder | null;
  #last: Census | null = null;
  /** Files that have a name in a folder that is not walked or in the journal, and until when that may be used. */
  readonly #explained = new Map<string, number>();

  constructor(tree: PolicedTree, { by = 'device and inode', images = null }: HardLinkOptions = {}) {
    this.#tree = tree;
    this.#hasDevice = by === 'device and inode';
    this.#images = images;
  }

  /** Refuses any use of another name of a sensitive file. */
  async refuse(path: string, stat: FileIdentity): Promise<Result<never> | undefined> {
    const [secret] = await this.among([{ path, stat }]);
    if (secret === undefined) return undefined;
    return fail('PERMISSION_DENIED', `${path} is another name of a sensitive file: tools cannot use it.`, { path });
  }

  /** Refuses also to read a file that has a name outside the workspace. Replacing such a file leaves the one outside as it is. */
  async refuseReading(path: string, stat: FileIdentity): Promise<Result<never> | undefined> {
    const refused = await this.refuse(path, stat);
    if (refused !== undefined || !(await this.#leadsOutside({ path, stat }))) return refused;
    const what = `${shortPath(path)} is a hard link to a file outside the workspace: tools cannot read it.`;
    const next = `Ask the person to replace it with a copy. ${howToFree(this.#tree.policy, path)}`;
    return fail('PERMISSION_DENIED', `${what} ${next}`, { ...secretDetails(this.#tree.policy, path) });
  }

  /** Returns those that are hard links to a sensitive file, with one walk for all of them. */
  async among<T extends SharedFile>(files: readonly T[]): Promise<ReadonlySet<T>> {
    return new Set((await this.#linked(files, ({ isSensitive }) => isSensitive)).keys());
  }

  /** Returns those that must not be read. */
  async amongUnreadable<T extends SharedFile>(files: readonly T[]): Promise<ReadonlySet<T>> {
    const unreadable = new Set(await this.among(files));
    for (const each of files) if (!unreadable.has(each) && (await this.#leadsOutside(each))) unreadable.add(each);
    return unreadable;
  }

  async #leadsOutside(file: SharedFile): Promise<boolean> {
    const { policy } = this.#tree;
    if (liesUnwalked(file.path) || policy.countedSecrets(file.path) !== 'all') return false;
    const short = (await this.#linked([file], ({ paths, nlink }) => paths.length < nlink)).get(file);
    if (short === undefined) return false;
    const identity = this.#identity(file.stat);
    const key = `${identity}:${file.stat.ctimeMs}`;
    if ((this.#explained.get(key) ?? 0) > Date.now()) return false;
    const startedAt = Date.now();
    if (short.paths.length + (await this.#namesElsewhere(identity)) < short.nlink) return true;
    if (this.#explained.size >= MAX_EXPLAINED) this.#explained.clear();
    if (isSettled(file, startedAt)) this.#explained.set(key, startedAt + FRESH_MS);
    return false;
  }

  /** An earlier walk may say that a file is ordinary, never that it is not: a person may have freed it since. */
  async #linked<T extends SharedFile>(
    files: readonly T[],
    isMeant: (linked: LinkedFile) => boolean,
  ): Promise<ReadonlyMap<T, LinkedFile>> {
    const shared = files.filter(({ stat }) => stat.nlink > 1);
    if (shared.length === 0) return new Map();
    const meant = (census: Census): Map<T, LinkedFile> => {
      const found = shared.map((file) => [file, census.files.get(this.#identity(file.stat))] as const);
      return new Map(found.flatMap(([file, linked]) => (linked && isMeant(linked) ? [[file, linked]] : [])));
    };
    const last = this.#last;
    if (last !== null && last.startedAt + FRESH_MS > Date.now()) {
      if (shared.every((file) => isSettled(file, last.startedAt)) && meant(last).size === 0) return new Map();
    }
    this.#last = await this.#count();
    return meant(this.#last);
  }

  async #count(): Promise<Census> {
    const startedAt = Date.now();
    const files = new Map<string, LinkedFile>();
    const { policy, folder: top } = this.#tree;
    await visitTree(top, ({ folder, name, type }) => {
      const stat = type === 'file' ? folder.stat(name) : null;
      if (stat === null || stat.nlink < 2) return 'enter';
      const linked = files.get(this.#identity(stat)) ?? { nlink: stat.nlink, paths: [], isSensitive: false };
      files.set(this.#identity(stat), linked);
      const path = folder.pathOf(name);
      linked.isSensitive ||= policy.judge(path).access === 'hidden';
      const others = linked.paths.filter((other) => !isJudgedAlike(policy, path, other));
      linked.paths.push(path);
      if (linked.isSensitive || others.length === 0) return 'enter';
      const bytes = readEntry(folder, name, MAX_WHOLE_BYTES);
      linked.isSensitive = bytes !== null && linked.paths.some((each) => judgeSecretFile(policy, each, bytes) !== null);
      return 'enter';
    });
    return { startedAt, files };
  }

  /** How many names it has in folders that are not walked, and in the journal. */
  async #namesElsewhere(identity: string): Promise<number> {
    let names = 0;
    const trees: [Folder, (path: string) => boolean][] = [[this.#tree.folder, liesUnwalked]];
    if (this.#images !== null) trees.push([this.#images, () => true]);
    for (const [top, counts] of trees) {
      await visitTree(
        top,
        ({ folder, name, type }) => {
          const stat = type === 'file' && counts(folder.pathOf(name)) ? folder.stat(name) : null;
          if (stat !== null && this.#identity(stat) === identity) names++;
          return 'enter';
        },
        { everything: true },
      );
    }
    return names;
  }

  #identity({ dev, ino }: Pick<FileIdentity, 'dev' | 'ino'>): string {
    return this.#hasDevice ? `${dev}:${ino}` : `${ino}`;
  }
}

const MAX_EXPLAINED = 10_000;

/** Whether a content is a secret under both names, or under neither: then whoever reads it by one of them finds out. */
function isJudgedAlike(policy: FilePolicy, path: string, other: string): boolean {
  const isSameCount = policy.countedSecrets(path) === policy.countedSecrets(other);
  return isSameCount && isGitConfig(path) === isGitConfig(other) && isReadAlike(path, other);
}

/** A new hard link changes the ctime, so an earlier walk no longer counts. */
function isSettled({ stat }: SharedFile, startedAt: number): boolean {
  return stat.ctimeMs + CLOCK_TICK_MS < startedAt;
}
