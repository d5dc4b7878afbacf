import { hash } from 'node:crypto';
import type { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { Fingerprinter } from '../../kernel/ports.ts';
import { ok, type Result } from '../../kernel/result.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { ScriptFiles } from '../../kernel/world/commands.ts';
import type { Caller, Files, Inspection, ListedEntry, Listing, World } from '../../kernel/world/workspace.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { type Depth, type Operand, type Operands, operandsOf } from '../../policy/commands/operands.ts';
import { scriptFiles } from '../../policy/commands/script-files.ts';
import { globPattern } from '../../workspace/search/glob-pattern.ts';

/** Above this a file is known by its size and time alone: hashing it would keep a person waiting. */
const HASHED_BYTES = 16 * 1024 * 1024;
/** Of a folder with more, the first in the order of names. */
const MOST_ENTRIES = 200_000;
const ALL = { includeHidden: true, withState: true, limit: MOST_ENTRIES };
/** Entries of folders that are listed for one call, and names that are compared with patterns. */
const MOST_LISTED = 300_000;
const MOST_COMPARED = 2_000_000;
/** Links that are followed from the files that patterns match. */
const MOST_LINKS = 200;
/** Of the files that a pattern matches, as many are known by their content. */
const HASHED_MATCHES = 200;
/** Fingerprints of a command that are kept one by one; the others are kept together. */
const KEPT_APART = 50;

/**
 * Fingerprints of the files a call names, so that a yes to `node build.js` is none to another build.js, and a yes to a
 * diff is none to the same change of another text.
 */
export function createFingerprinter(world: World): Fingerprinter {
  return async (access, context) => {
    const files = world.files(observer(context));
    const seen = new Map<string, string>();
    for (const each of access) {
      const { names, complete } = namedIn(each, files);
      const prints: [string, string][] = [];
      const look: Look = { files, followed: 0, listed: 0, compared: 0, folders: new Map(), lost: !complete };
      const yielder = createYielder();
      for (const name of names) {
        prints.push([name.path, await fingerprint(look, name)]);
        if (yielder.isDue()) await yielder.pause();
      }
      const apart = prints.slice(0, KEPT_APART);
      const rest = prints.slice(KEPT_APART);
      if (rest.length > 0) apart.push([`and ${rest.length} more`, hashOf(rest)]);
      // More names than can be followed: then all that is there.
      if (look.lost) apart.push(['.', await listing({ ...look, listed: 0 }, '.', 'as it is')]);
      // Of one name there may be several: of the folder itself, and of all that is in it.
      for (const [path, print] of apart) seen.set(path, seen.has(path) ? hashOf([seen.get(path), print]) : print);
    }
    return Object.fromEntries(seen);
  };
}

function namedIn(access: Access, files: Files): Operands {
  switch (access.kind) {
    case 'fs.read':
    case 'fs.write':
      return only({ path: access.path, deep: false, pattern: false });
    case 'fs.delete':
      return only({ path: access.path, deep: access.recursive === true && 'as it is', pattern: false });
    case 'process.run':
      return namedByCommand(access, files);
    case 'net.fetch':
    case 'net.search':
    case 'unknown':
      return NOTHING;
  }
}

type ProcessRun = Extract<Access, { kind: 'process.run' }>;

function namedByCommand({ command, cwd, args, code }: ProcessRun, files: Files): Operands {
  const isFolder = (path: string): boolean => {
    const found = files.inspect(path === '' ? '.' : path);
    return found.ok && found.value.type === 'directory';
  };
  const start: Operand[] = cwd === undefined ? [] : [{ path: cwd, deep: false, pattern: false }];
  const isShell = code === undefined || code === 'bash';
  // Code in another language names its files in its own way.
  const { names, ...rest } = operandsOf(isShell ? command : '', { cwd, args, isFolder });
  const all = { names: [...start, ...names], ...rest };
  return isShell ? withScripts(all, scriptFiles(command, cwd)) : all;
}

/** Programs look for their manifests above the folder they run in as well. */
function withScripts({ names, ...rest }: Operands, { named, sought }: ScriptFiles): Operands {
  const known = new Set(names.map(({ path }) => path));
  const more = [...new Set([...named, ...sought])].filter((path) => !known.has(path));
  return { names: [...names, ...more.map((path) => ({ path, deep: false, pattern: false }) as const)], ...rest };
}

const NOTHING: Operands = { names: [], complete: true };

function only(operand: Operand): Operands {
  return { ...NOTHING, names: [operand] };
}

interface Look {
  readonly files: Files;
  followed: number;
  listed: number;
  compared: number;
  readonly folders: Map<string, Result<Listing>>;
  /** There is something that could not be followed. */
  lost: boolean;
}

type Dated = Pick<Inspection, 'size' | 'modified'>;

async function fingerprint(look: Look, { path, deep, pattern }: Operand): Promise<string> {
  const { files } = look;
  const found = files.inspect(path);
  const isThere = found.ok && found.value.type !== null;
  if (pattern && !isThere) return matches(look, path, deep);
  if (!found.ok) return found.error.code;
  const { type, path: real } = found.value;
  // With the real place: a yes is for that, wherever a link leads by then.
  if (type === null) return `absent ${real}`;
  if (type === 'file') return `${await contentOf(files, path, found.value)} ${real}`;
  return type === 'directory' && deep ? `${await listing(look, path, deep)} ${real}` : `${type} ${real}`;
}

async function contentOf(files: Files, path: string, { size, modified }: Dated): Promise<string> {
  if (size > HASHED_BYTES) return `${size} bytes of ${modified}`;
  const read = await files.readBytes(path, HASHED_BYTES);
  return read.ok ? read.value.version : read.error.code;
}

/** Fingerprints the files that the shell would put in the place of a pattern. */
async function matches(look: Look, path: string, deep: Depth): Promise<string> {
  const parts = path.split('/');
  const first = parts.findIndex((part) => /[*?[{]/.test(part));
  return hashOf(await matchesIn(look, parts.slice(0, first).join('/') || '.', parts.slice(first), deep));
}

async function matchesIn(look: Look, folder: string, pattern: readonly string[], deep: Depth): Promise<unknown[]> {
  const { files } = look;
  const whole = pattern.join('/');
  const fits = globPattern(whole);
  if (!fits.ok) {
    look.lost = true;
    return [];
  }
  const listed = await listOnce(look, folder, deep !== false || pattern.length > 1);
  if (!listed.ok) return [listed.error.code];
  const { entries } = listed.value;
  look.compared += entries.length;
  if (look.compared > MOST_COMPARED) {
    look.lost = true;
    return [];
  }
  const fitting = entries.filter(({ name }) => isIn(name, whole, fits.value, deep !== false));
  const prints: unknown[] = fitting.map(plain);
  const at = (name: string) => (folder === '.' ? name : `${folder}/${name}`);
  for (const entry of fitting.filter(({ type }) => type === 'file').slice(0, HASHED_MATCHES))
    prints.push(await contentOf(files, at(entry.name), entry));
  for (const { name } of fitting.filter(({ type }) => type === 'symlink')) {
    if (!mayFollow(look)) break;
    prints.push(await fingerprint(look, { path: at(name), deep, pattern: false }));
  }
  for (const { name, left } of linksOnTheWay(entries, pattern)) {
    if (!mayFollow(look)) break;
    prints.push(left === undefined ? await listing(look, at(name), deep) : await matchesIn(look, at(name), left, deep));
  }
  return prints;
}

/** Every word behind `cd a*` is looked for in the same folders. */
async function listOnce(look: Look, folder: string, recursive: boolean): Promise<Result<Listing>> {
  const key = `${recursive} ${folder}`;
  const known = look.folders.get(key);
  if (known !== undefined) return known;
  if (look.listed > MOST_LISTED) {
    look.lost = true;
    return ok({ path: folder, entries: [], complete: false });
  }
  const listed = await look.files.list(folder, { ...ALL, recursive });
  look.folders.set(key, listed);
  look.listed += listed.ok ? listed.value.entries.length : 0;
  return listed;
}

/**
 * Links to folders that the shell goes through to find what matches, which a listing does not enter. `left` is the
 * pattern from there on, if that can be told.
 */
function linksOnTheWay(entries: readonly ListedEntry[], pattern: readonly string[]) {
  // Over several folders `**` passes links by; to a shell that does not know it, it is one star.
  const ways = pattern.map((_, at) => globPattern(pattern.slice(0, at).join('/').replaceAll('**', '*')));
  return entries.flatMap(({ name, type }) => {
    const depth = name.split('/').length;
    const way = type === 'symlink' ? ways[depth] : undefined;
    if (way === undefined || (way.ok && !way.value(name))) return [];
    return [{ name, left: way.ok ? pattern.slice(depth) : undefined }];
  });
}

function mayFollow(look: Look): boolean {
  const may = ++look.followed <= MOST_LINKS;
  if (!may) look.lost = true;
  return may;
}

/** Matched itself or, where folders are taken whole, inside of something that is. */
function isIn(name: string, pattern: string, fits: (path: string) => boolean, deep: boolean): boolean {
  const depth = pattern.split('/').length;
  const parts = name.split('/');
  if (fits(name) && (pattern.includes('**') || parts.length === depth)) return true;
  return deep && parts.length > depth && fits(parts.slice(0, depth).join('/'));
}

async function listing(look: Look, path: string, deep: Depth): Promise<string> {
  const listed = await listOnce(look, path, true);
  if (!listed.ok) return listed.error.code;
  const { entries } = listed.value;
  // Where they lead is not followed one by one: all that is there is looked at.
  if (deep === 'through links' && entries.some(({ type }) => type === 'symlink')) look.lost = true;
  return hashOf(entries.map(plain));
}

function plain({ name, type, size, modified, state }: ListedEntry): unknown {
  return [name, type, size, modified, state];
}

function hashOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'hex').slice(0, 32);
}

/** Looks, and may change nothing. */
function observer({ workingDir, timeout, sessionId }: ExecutionContext): Caller {
  return {
    callId: 'witness',
    // Not the call's own: that a person was shown a file does not mean that the model has read it.
    session: `witness:${sessionId ?? ''}`,
    workingDir,
    timeout,
    signal: new AbortController().signal,
    admitted: null,
  };
}
