import { fail, type Result } from '../kernel/result.ts';
import type { Place } from './place.ts';
import { visitTree } from './tree.ts';

const FRESH_MS = 1000;

/** Other names of sensitive files. Asked only for files that have more than one name, which are rare. */
export class SecretInodes {
  readonly #place: Place;
  #known: { at: number; inodes: Promise<ReadonlySet<string>> } | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  async refuses(path: string, stat: { dev: number; ino: number; nlink: number }): Promise<Result<never> | undefined> {
    if (stat.nlink < 2) return undefined;
    if (this.#known === undefined || performance.now() - this.#known.at > FRESH_MS) {
      this.#known = { at: performance.now(), inodes: this.#find() };
    }
    const inodes = await this.#known.inodes;
    if (!inodes.has(`${stat.dev}:${stat.ino}`)) return undefined;
    return fail('PERMISSION_DENIED', `${path} is another name of a sensitive file: tools cannot use it.`, { path });
  }

  async #find(): Promise<ReadonlySet<string>> {
    const inodes = new Set<string>();
    const { policy, root } = this.#place;
    await visitTree(root, ({ folder, name, type }) => {
      if (policy.judgeEntry(folder.path, name).access !== 'hidden') return 'enter';
      addShared(inodes, type === 'file' ? folder.stat(name) : null);
      return 'enter';
    });
    return inodes;
  }
}

function addShared(inodes: Set<string>, stat: { dev: number; ino: number; nlink: number } | null): void {
  if (stat !== null && stat.nlink > 1) inodes.add(`${stat.dev}:${stat.ino}`);
}
