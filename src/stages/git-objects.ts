import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../host/errno.ts';

/** Above it, an index or a list of refs is not read. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const OBJECT = /^objects\/([0-9a-f]{2})\/([0-9a-f]{38}(?:[0-9a-f]{24})?)$/;
const OBJECT_FOLDER = /^objects\/[0-9a-f]{2}$/;
const PACK = /^objects\/pack\/(pack-[0-9a-f]+)\.(?:pack|idx)$/;
const ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const REMOTE = /^refs\/remotes(?:\/|$)/;

/** Ids of commits, tags or objects that a path in the data of a repository leads to or holds. Null when some cannot be read. */
export type GitIds = readonly string[] | null;

/** The objects in a loose object, a pack, or a folder of them. Empty for anything else. `data` is the folder of the data. */
export function objectsAt(data: string, path: string): GitIds {
  const [, start, rest] = OBJECT.exec(path) ?? [];
  if (start !== undefined) return [`${start}${rest}`];
  if (OBJECT_FOLDER.test(path))
    return joined(namesIn(join(data, path)).map((name) => objectsAt(data, `${path}/${name}`)));
  if (path === 'objects/pack') {
    return joined(namesIn(join(data, path)).map((name) => objectsAt(data, `${path}/${name}`)));
  }
  const pack = PACK.exec(path)?.[1];
  return pack === undefined ? [] : idsInIndex(readSmall(join(data, `objects/pack/${pack}.idx`)));
}

/** The commits or tags that a ref, a folder of refs, the packed refs or HEAD led to. The remote has those of its own refs. */
export function tipsAt(data: string, path: string): GitIds {
  if (REMOTE.test(path) || path === STASH) return [];
  const isRef = path === 'HEAD' || path === 'refs' || path.startsWith('refs/');
  if (!isRef && path !== 'packed-refs') return [];
  if (isFolder(join(data, path)))
    return joined(namesIn(join(data, path)).map((name) => tipsAt(data, `${path}/${name}`)));
  const text = readSmall(join(data, path))?.toString('latin1');
  if (text === undefined) return null;
  return isRef ? [text.trim()].filter((id) => ID.test(id)) : packedTips(text);
}

const STASH = 'refs/stash';
/** The list of stashes, and the folders above it. */
const STASH_LISTS = ['logs', 'logs/refs', 'logs/refs/stash'];

/** The stashes that a path leads to: the ref of the newest one, or the list of all. */
export function stashesAt(data: string, path: string): GitIds {
  const isList = STASH_LISTS.includes(path);
  if (!isList && path !== STASH && path !== 'refs') return [];
  const text = readSmall(join(data, isList ? 'logs/refs/stash' : STASH))?.toString('utf8') ?? '';
  // A line of the list has the stash before it, and the stash.
  const ids = text.split('\n').map((line) => (isList ? line.split(' ')[1] : line) ?? '');
  return ids.filter((id) => ID.test(id));
}

/** The id of the packed ref whose place a new file of a ref takes. */
export function packedTipsAt(data: string, path: string): GitIds {
  const text = path.startsWith('refs/') ? readSmall(join(data, 'packed-refs'))?.toString('latin1') : undefined;
  if (text === undefined || !text.includes(` ${path}\n`)) return [];
  return text.split('\n').flatMap((line) => (line.endsWith(` ${path}`) ? [line.slice(0, line.indexOf(' '))] : []));
}

/** The ids in the file of packed refs. An annotated tag has the commit that it leads to on the next line. */
function packedTips(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [id = '', name] = line.replace(/^\^/, '').split(' ');
    return ID.test(id) && !REMOTE.test(name ?? '') ? [id] : [];
  });
}

/** The sorted ids of a pack: version 2, with ids of 20 or of 32 bytes. */
function idsInIndex(bytes: Buffer | null): GitIds {
  const head = 8 + 256 * 4;
  if (bytes === null || bytes.length < head || bytes.readUInt32BE(0) !== 0xff744f63) return null;
  const count = bytes.readUInt32BE(head - 4);
  const size = bytes.length >= head + count * (32 + 8) + 2 * 32 ? 32 : 20;
  if (bytes.length < head + count * size) return null;
  return Array.from({ length: count }, (_, at) => bytes.toString('hex', head + at * size, head + (at + 1) * size));
}

function joined(all: readonly GitIds[]): GitIds {
  return all.includes(null) ? null : all.flatMap((ids) => ids ?? []);
}

/** Null for what is no file, or too large. */
function readSmall(path: string): Buffer | null {
  return attempt(() => {
    const stat = lstatSync(path);
    return stat.isFile() && stat.size <= MAX_FILE_BYTES ? readFileSync(path) : null;
  }, null);
}

function namesIn(folder: string): string[] {
  return attempt(() => readdirSync(folder), []);
}

function isFolder(path: string): boolean {
  return attempt(() => lstatSync(path).isDirectory(), false);
}

function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return otherwise;
  }
}
