import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';

/** Not in node:fs: opens a name without opening what it stands for, so no FIFO blocks and no device wakes. */
const O_PATH = 0x200000;
const BY_HANDLE = process.platform === 'linux' && existsSync('/proc/self/fd');
const FOLDER = constants.O_DIRECTORY | constants.O_NOFOLLOW | (BY_HANDLE ? O_PATH : constants.O_RDONLY);

/**
 * An open folder. Names in it are reached through its handle (`/proc/self/fd/N/name`), so nobody can put another
 * folder in its place. Where the system has no such names, they are reached by path: weaker, since a folder above can
 * be swapped between the check and the use.
 */
export class Folder {
  readonly fd: number;
  /** Relative to the workspace root; empty for the root. */
  readonly path: string;
  readonly #absolute: string;
  readonly #shared: boolean;

  constructor(fd: number, path: string, absolute: string, { shared = false } = {}) {
    this.fd = fd;
    this.path = path;
    this.#absolute = absolute;
    this.#shared = shared;
  }

  static open(absolute: string): Folder {
    return new Folder(openSync(absolute, FOLDER), '', absolute, { shared: true });
  }

  /** The name to give to a system call. `''` is the folder itself. */
  at(name: string): string {
    const self = BY_HANDLE ? `/proc/self/fd/${this.fd}` : this.#absolute;
    return `${self}/${name || '.'}`;
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}/${name}`;
  }

  /** Throws ENOTDIR for a link as for a file. */
  openChild(name: string): Folder {
    return new Folder(openSync(this.at(name), FOLDER), this.pathOf(name), `${this.#absolute}/${name}`);
  }

  /** Of the name itself, not of what a link leads to. Null when there is none. */
  stat(name: string): Stats | null {
    return lstatSync(this.at(name), { throwIfNoEntry: false }) ?? null;
  }

  /** Of the folder itself, not by `at`: a name in it cannot be reached while it may not be searched. */
  setMode(mode: number): void {
    chmodSync(BY_HANDLE ? `/proc/self/fd/${this.fd}` : this.#absolute, mode);
  }

  readLink(name: string): string {
    return readlinkSync(this.at(name));
  }

  /** False when the folder was moved or removed since it was opened. */
  isInPlace(): boolean {
    try {
      const now = BY_HANDLE ? readlinkSync(`/proc/self/fd/${this.fd}`) : realpathSync(this.#absolute);
      return now === this.#absolute;
    } catch {
      return false;
    }
  }

  /** The root's handle is shared by all walks and stays open. */
  close(): void {
    if (!this.#shared) closeSync(this.fd);
  }

  /** For the root, when the workspace itself is closed. */
  dispose(): void {
    closeSync(this.fd);
  }
}
