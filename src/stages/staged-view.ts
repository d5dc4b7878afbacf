import { readFileSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { GitFileReader } from '../git/obeyed-paths.ts';
import { errnoOf } from '../host/errno.ts';
import { statOf } from '../host/files.ts';
import type { StagedChanges } from '../kernel/world/stage.ts';

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_SYMLINKS = 40;

/**
 * The workspace as it will be when all changes of a stage are kept, read without a mount: a changed path from the stage,
 * any other from the workspace. For judging only: what is kept later is compared again.
 */
export class StagedView implements GitFileReader {
  readonly #workspace: string;
  readonly #content: string;
  readonly #changed: ReadonlySet<string>;
  readonly #deleted: ReadonlySet<string>;

  constructor(workspace: string, { changes, content }: StagedChanges) {
    this.#workspace = workspace;
    this.#content = content;
    this.#changed = new Set(changes.flatMap(({ path, kind }) => (kind === 'deleted' ? [] : [path])));
    this.#deleted = new Set(changes.flatMap(({ path, kind }) => (kind === 'deleted' ? [path] : [])));
  }

  /** Symlinks are not followed. Null when nothing will be there. */
  stat(path: string): Stats | null {
    const source = this.#sourceOf(path);
    return source === null ? null : (statOf(source) ?? null);
  }

  /** The text of a file; empty for anything else, as git reads it. */
  read(file: string): string {
    return this.readWhole(file) ?? '';
  }

  /** The text of a file; empty for anything else. Null when it is too large to read, so that its text is unknown. */
  readWhole(file: string): string | null {
    return textAt(this.#sourceOf(this.#resolved(file)));
  }

  /** The text as it is in the workspace now, in the same way. */
  readBefore(path: string): string | null {
    return textAt(`${this.#workspace}/${path}`);
  }

  kindAt(path: string): 'directory' | 'other' | null {
    const source = this.#sourceOf(this.#resolved(path));
    const stat = source === null ? undefined : statOf(source);
    if (stat === undefined) return null;
    return stat.isDirectory() ? 'directory' : 'other';
  }

  realPath(path: string): string {
    return resolve(this.#workspace, this.#resolved(path));
  }

  /** Follows every symlink on the way, in the view. The path begins with `..` when it leads out of the workspace. */
  #resolved(path: string): string {
    let names = relative(this.#workspace, resolve(this.#workspace, path)).split('/');
    let [done, hops] = ['', 0];
    while (names.length > 0) {
      const [name = '', ...rest] = names;
      const at = done === '' ? name : `${done}/${name}`;
      const source = this.#sourceOf(at);
      const target = source !== null && statOf(source)?.isSymbolicLink() ? readlinkSync(source) : undefined;
      if (target === undefined || ++hops > MAX_SYMLINKS) {
        done = at;
        names = rest;
        continue;
      }
      const leads = relative(this.#workspace, resolve(this.#workspace, dirname(at), target));
      if (leads === '..' || leads.startsWith('../')) return [leads, ...rest].join('/');
      names = [...(leads === '' ? [] : leads.split('/')), ...rest];
      done = '';
    }
    return done;
  }

  /** Where the content of a path from the workspace lies on the host; null when the stage deleted it. */
  #sourceOf(path: string): string | null {
    if (this.#changed.has(path)) return `${this.#content}/${path}`;
    for (let at = path; at !== '.' && at !== ''; at = dirname(at)) if (this.#deleted.has(at)) return null;
    return `${this.#workspace}/${path}`;
  }
}

function textAt(source: string | null): string | null {
  const stat = source === null ? undefined : statOf(source);
  if (source === null || !stat?.isFile()) return '';
  if (stat.size > MAX_FILE_BYTES) return null;
  try {
    return readFileSync(source, 'utf8');
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return null;
  }
}
