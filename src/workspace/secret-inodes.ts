import { fail, type Result } from '../kernel/result.ts';
import type { Place } from './workspace-root.ts';
import { visitTree } from '../host/visit-tree.ts';

const FRESH_MS = 1000;
/** Coarser than the clock of any file system that we would meet. */
const TICK_MS = 50;
const MOST_KNOWN = 10_000;

export type Shared = { readonly dev: number; readonly ino: number; readonly nlink: number; readonly ctimeMs: number };

/** Other names of sensitive files. Asked only for files that have more than one name, which are rare. */
export class SecretInodes {
  readonly #place: Place;
  /** Files that were found to be ordinary, until when that may be believed. */
  readonly #ordinary = new Map<string, number>();

  constructor(place: Place) {
    this.#place = place;
  }

  async refuses(path: string, stat: Shared): Promise<Result<never> | undefined> {
    if (stat.nlink < 2) return undefined;
    // A file that is given another name has another ctime, so what was found out of it no longer counts.
    const key = `${identity(stat)}:${stat.ctimeMs}`;
    if ((this.#ordinary.get(key) ?? 0) > Date.now()) return undefined;
    const startedAt = Date.now();
    const secret = (await this.#find()).has(identity(stat));
    if (secret) {
      return fail('PERMISSION_DENIED', `${path} is another name of a sensitive file: tools cannot use it.`, { path });
    }
    if (this.#ordinary.size >= MOST_KNOWN) this.#ordinary.clear();
    if (stat.ctimeMs + TICK_MS < startedAt) this.#ordinary.set(key, startedAt + FRESH_MS);
    return undefined;
  }

  /** Those that are another name of a sensitive file. Of many, in one look for all. */
  async among<T extends { readonly stat: Shared }>(files: readonly T[]): Promise<ReadonlySet<T>> {
    const shared = files.filter(({ stat }) => stat.nlink > 1);
    const secret = shared.length === 0 ? new Set<string>() : await this.#find();
    return new Set(shared.filter(({ stat }) => secret.has(identity(stat))));
  }

  async #find(): Promise<ReadonlySet<string>> {
    const inodes = new Set<string>();
    const { policy, root } = this.#place;
    await visitTree(root, ({ folder, name, type }) => {
      if (policy.judge(folder.pathOf(name)).access !== 'hidden') return 'enter';
      const stat = type === 'file' ? folder.stat(name) : null;
      if (stat !== null && stat.nlink > 1) inodes.add(identity(stat));
      return 'enter';
    });
    return inodes;
  }
}

function identity({ dev, ino }: Pick<Shared, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}
