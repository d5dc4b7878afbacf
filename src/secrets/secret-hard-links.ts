import type { Folder } from '../host/folder.ts';
import { visitTree } from '../host/visit-tree.ts';
import { fail, type Result } from '../kernel/result.ts';
import type { FilePolicy } from '../kernel/world/file-policy.ts';

const FRESH_MS = 1000;
/** Coarser than the clock of any common file system. */
const CLOCK_TICK_MS = 50;
const MAX_KNOWN = 10_000;

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

/** Detects hard links to sensitive files. Looks only for files that have more than one name, which are rare. */
export class SecretHardLinks {
  readonly #tree: PolicedTree;
  readonly #hasDevice: boolean;
  /** Ordinary files, and until when that result may be used. */
  readonly #ordinary = new Map<string, number>();

  /** In an overlay files keep the inode number of the real one, and have another device: `by` says what is compared. */
  constructor(tree: PolicedTree, { by = 'device and inode' }: { readonly by?: 'device and inode' | 'inode' } = {}) {
    this.#tree = tree;
    this.#hasDevice = by === 'device and inode';
  }

  #identity({ dev, ino }: Pick<FileIdentity, 'dev' | 'ino'>): string {
    return this.#hasDevice ? `${dev}:${ino}` : `${ino}`;
  }

  async refuse(path: string, stat: FileIdentity): Promise<Result<never> | undefined> {
    if (stat.nlink < 2) return undefined;
    // A new hard link changes the ctime, so an earlier result no longer counts.
    const key = `${this.#identity(stat)}:${stat.ctimeMs}`;
    if ((this.#ordinary.get(key) ?? 0) > Date.now()) return undefined;
    const startedAt = Date.now();
    const secret = (await this.#find()).has(this.#identity(stat));
    if (secret) {
      return fail('PERMISSION_DENIED', `${path} is another name of a sensitive file: tools cannot use it.`, { path });
    }
    if (this.#ordinary.size >= MAX_KNOWN) this.#ordinary.clear();
    if (stat.ctimeMs + CLOCK_TICK_MS < startedAt) this.#ordinary.set(key, startedAt + FRESH_MS);
    return undefined;
  }

  /** Returns those that are hard links to a sensitive file, with one walk for all of them. */
  async among<T extends { readonly stat: FileIdentity }>(files: readonly T[]): Promise<ReadonlySet<T>> {
    const shared = files.filter(({ stat }) => stat.nlink > 1);
    const secret = shared.length === 0 ? new Set<string>() : await this.#find();
    return new Set(shared.filter(({ stat }) => secret.has(this.#identity(stat))));
  }

  async #find(): Promise<ReadonlySet<string>> {
    const inodes = new Set<string>();
    const { policy, folder: top } = this.#tree;
    await visitTree(top, ({ folder, name, type }) => {
      if (policy.judge(folder.pathOf(name)).access !== 'hidden') return 'enter';
      const stat = type === 'file' ? folder.stat(name) : null;
      if (stat !== null && stat.nlink > 1) inodes.add(this.#identity(stat));
      return 'enter';
    });
    return inodes;
  }
}
