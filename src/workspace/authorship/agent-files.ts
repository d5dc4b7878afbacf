import { appendFileSync, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { digestOf } from '../../host/file-version.ts';
import { makePrivateFolder } from '../../host/private-folder.ts';
import { foldersAbove } from '../../kernel/text/folders-above.ts';

/** A path that a call of the agent put something at. A folder stands for all that is found below it. */
export interface AgentFile {
  readonly path: string;
  /** A file tool moved it there. */
  readonly isMoved: boolean;
  /** `obeyedDigest` of the file before the first call; null for none, undefined where it is not known. */
  readonly before: string | null | undefined;
  /** The same of texts that a person was shown and agreed to. */
  readonly agreed: ReadonlySet<string>;
}

interface KnownFile extends AgentFile {
  readonly agreed: Set<string>;
}

/** A line of the record: a path when a call first touches it, or a text of it that a person agreed to. */
interface AgentFileLine {
  readonly path: string;
  readonly before?: string | null;
  readonly moved?: true;
  readonly agreed?: string;
}

/** A change that is about to be made. */
export interface NotedChange {
  readonly path: string;
  readonly isMoved: boolean;
  /** `obeyedDigest` of what stands there; asked for when the path is new. */
  before(): string | null | undefined;
}

/**
 * The paths of one workspace that calls put files at, as long as the workspace is known. It grows by one line for each path, and is
 * never pruned. Lines are written before the change is made: a path whose change failed is as it was before.
 */
export class AgentFiles {
  readonly #path: string | null;
  #read = 0;
  readonly #files = new Map<string, KnownFile>();

  /** Without a folder it lasts as long as the process. */
  constructor(folder: string | null, root: string) {
    if (folder !== null) makePrivateFolder(folder);
    this.#path = folder === null ? null : join(folder, `${digestOf(Buffer.from(root)).slice(0, 32)}.jsonl`);
  }

  /** Also what other processes wrote. Throws what the system throws. */
  all(): readonly AgentFile[] {
    this.#follow();
    return [...this.#files.values()];
  }

  /** Throws what the system throws; then nothing may be changed. */
  note(changes: readonly NotedChange[]): void {
    if (changes.length === 0) return;
    this.#follow();
    const isNew = ({ path, isMoved }: NotedChange) => {
      const known = this.#files.get(keyOf(path));
      return known === undefined || (isMoved && !known.isMoved);
    };
    this.#append(changes.filter(isNew).map(lineOf));
  }

  /** Whether a text at a path is none of the agent's, or one that a person agreed to. */
  isAgreed(path: string, digest: string): boolean {
    this.#follow();
    const known = this.#files.get(keyOf(path));
    if (known !== undefined) return known.before === digest || known.agreed.has(digest);
    return !foldersAbove(path).some((folder) => this.#files.has(keyOf(folder)));
  }

  noteAgreed(texts: readonly { readonly path: string; readonly digest: string }[]): void {
    this.#append(texts.map(({ path, digest }) => ({ path, agreed: digest })));
  }

  #append(lines: readonly AgentFileLine[]): void {
    if (lines.length === 0) return;
    // A line that was cut off when its process died ends here.
    const text = lines.map((line) => `\n${JSON.stringify(line)}\n`).join('');
    if (this.#path === null) for (const line of lines) this.#take(line);
    else appendFileSync(this.#path, text, { mode: 0o600 });
  }

  #follow(): void {
    if (this.#path === null) return;
    const bytes = readFrom(this.#path, this.#read);
    const end = bytes.lastIndexOf(0x0a) + 1;
    for (const text of bytes.subarray(0, end).toString('utf8').split('\n')) {
      const line = parse(text);
      if (line !== undefined) this.#take(line);
    }
    this.#read += end;
  }

  #take({ path, before, moved, agreed }: AgentFileLine): void {
    const known: KnownFile = this.#files.get(keyOf(path)) ?? {
      path,
      before,
      isMoved: moved === true,
      agreed: new Set(),
    };
    if (agreed !== undefined) known.agreed.add(agreed);
    this.#files.set(keyOf(path), moved ? { ...known, isMoved: true } : known);
  }
}

/** Where letter case does not count, two spellings are one file. */
function keyOf(path: string): string {
  return process.platform === 'linux' ? path : path.toLowerCase();
}

function lineOf({ path, isMoved, before }: NotedChange): AgentFileLine {
  const digest = before();
  return { path, ...(digest !== undefined && { before: digest }), ...(isMoved && { moved: true }) };
}

function readFrom(path: string, start: number): Buffer {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    const bytes = Buffer.alloc(Math.max(0, fstatSync(fd).size - start));
    return bytes.subarray(0, bytes.length === 0 ? 0 : readSync(fd, bytes, 0, bytes.length, start));
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT') throw thrown;
    return Buffer.alloc(0);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function parse(text: string): AgentFileLine | undefined {
  try {
    return text === '' ? undefined : (JSON.parse(text) as AgentFileLine);
  } catch {
    return undefined;
  }
}
