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
import { join } from 'node:path';

/** Not in node:fs: opens a name without opening the file behind it, so no FIFO blocks and no device wakes. */
const O_PATH = 0x200000;

/** Whether names are reached through the handle of their folder. Elsewhere, as on macOS, they are reached by path. */
export const BY_HANDLE = process.platform === 'linux' && existsSync('/proc/self/fd');

/** `search` also opens a folder that may be searched but not listed. */
export type FolderAccess = 'search' | 'read';

const FLAGS: Readonly<Record<FolderAccess, number>> = {
  search: constants.O_DIRECTORY | constants.O_NOFOLLOW | (BY_HANDLE ? O_PATH : constants.O_RDONLY),
  read: constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_RDONLY,
};

interface FolderPlace {
  readonly path: string;
  readonly absolute: string;
  readonly access: FolderAccess;
  readonly isShared?: boolean;
  readonly isView?: true;
  readonly view?: Folder | null;
}

/**
 * An open folder. Names in it are reached through its handle (`/proc/self/fd/N/name`), so that no other folder can take
 * its place, and no child is opened through a symlink. Where the system has no such names they are reached by path:
 * weaker, since a folder above can be swapped between the check and the use.
 */
export class Folder {
  readonly fd: number;
  /** Relative to the folder that was opened first; empty for that one. */
  readonly path: string;
  readonly #absolute: string;
  readonly #access: FolderAccess;
  readonly #isShared: boolean;
  /** Of a folder below one that has no path on the host: that one. */
  readonly #view: Folder | null;

  private constructor(fd: number, place: FolderPlace) {
    this.fd = fd;
    this.path = place.path;
    this.#absolute = place.absolute;
    this.#access = place.access;
    this.#isShared = place.isShared ?? false;
    this.#view = place.isView ? this : (place.view ?? null);
  }

  static open(absolute: string, access: FolderAccess = 'search'): Folder {
    return new Folder(openSync(absolute, FLAGS[access]), { path: '', absolute, access });
  }

  /** A folder that many walks begin at: `close` leaves it open, `dispose` closes it. */
  static openShared(absolute: string): Folder {
    const access = 'search';
    return new Folder(openSync(absolute, FLAGS[access]), { path: '', absolute, access, isShared: true });
  }

  /**
   * A folder that is open already and may have no path on the host, as the view of a stage has none. It is shared, and the
   * descriptor stays the caller's.
   */
  static ofView(fd: number): Folder {
    return new Folder(fd, { path: '', absolute: '', access: 'search', isShared: true, isView: true });
  }

  /** The path of the folder itself for system calls that follow symlinks. */
  get self(): string {
    return BY_HANDLE ? `/proc/self/fd/${this.fd}` : this.#absolute;
  }

  /** The path of a name for system calls. `''` is the folder itself, which must be searchable then. */
  at(name: string): string {
    return `${this.self}/${name || '.'}`;
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}/${name}`;
  }

  /** Throws ENOTDIR for a symlink as for a file. */
  openChild(name: string): Folder {
    const fd = openSync(this.at(name), FLAGS[this.#access]);
    const place = { path: this.pathOf(name), absolute: `${this.#absolute}/${name}`, access: this.#access };
    return new Folder(fd, { ...place, view: this.#view });
  }

  /** Of the name itself, not of the target of a symlink. Null when there is none. */
  stat(name: string): Stats | null {
    return lstatSync(this.at(name), { throwIfNoEntry: false }) ?? null;
  }

  /** Works while the folder may not be searched, when no name in it can be reached. */
  setMode(mode: number): void {
    chmodSync(this.self, mode);
  }

  readLink(name: string): string {
    return readlinkSync(this.at(name));
  }

  /** False when the folder was moved or removed since it was opened. */
  isInPlace(): boolean {
    try {
      const now = BY_HANDLE ? readlinkSync(this.self) : realpathSync(this.#absolute);
      // The kernel tells the path of a view by where its mount is at this moment.
      return now === (this.#view === null ? this.#absolute : join(readlinkSync(this.#view.self), this.path));
    } catch {
      return false;
    }
  }

  close(): void {
    if (!this.#isShared) closeSync(this.fd);
  }

  /** Closes a shared folder when nobody walks from it any more. */
  dispose(): void {
    closeSync(this.fd);
  }
}
