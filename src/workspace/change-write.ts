import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Applied, Change } from '../kernel/workspace.ts';
import { syncFolder, writeAll } from './copy-tree.ts';
import { type Decoded, decodeText, encodeText } from './decode-text.ts';
import { errnoOf, refusal } from './errno.ts';
import type { Folder } from './folder.ts';
import { keepLineEndings } from './line-endings.ts';
import { notAFile, openFile, readWhole, WHOLE_BYTES } from './open-file.ts';
import { shown } from './parse-path.ts';
import { type Prepared, tempName, type Writer } from './prepared.ts';
import { folderMaker, imagined, wouldMake } from './rehearsal.ts';
import { unmake } from './unmake.ts';
import { digestOf, digestOfFile, versionOf } from './version.ts';
import type { Spot } from './walk.ts';
import { whatChanged } from './what-changed.ts';

type Write = Extract<Change, { kind: 'write' }>;

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** Up to here syncing in this turn of the loop is quicker than leaving it. */
const SYNC_BYTES = 256 * 1024;
/** Larger texts are not handed back for a diff. */
const DIFF_BYTES = 1024 * 1024;
const syncLater = promisify(fsync);

/** What is in a file now, as far as it was small enough to read. */
interface Current {
  readonly stat: Stats;
  readonly bytes: Buffer | null;
  readonly digest: string | null;
}

export async function prepareWrite(writer: Writer, change: Write): Promise<Result<Prepared>> {
  const { place, secrets } = writer;
  const make = change.createDirs === false ? {} : { make: folderMaker(writer) };
  const located = place.locate(change.path, { last: 'follow', ...make });
  if (wouldMake(located)) return imaginedWrite(writer, change, located);
  if (!located.ok) return located;
  const spot = located.value;
  const failed = (result: Result<never>): Result<never> => {
    unmake(place, spot.made);
    spot.folder.close();
    return result;
  };

  try {
    const open = writer.stillOpen?.(change.path, spot) ?? ok(undefined);
    if (!open.ok) return failed(open);
    const current = await currentOf(spot, asksForVersion(writer, change, spot.path));
    if (!current.ok) return failed(current);
    const now = current.value;
    if (now !== null && (now.stat.mode & 0o222) === 0) return failed(readOnly(spot.path));
    const secret = now === null ? undefined : await secrets.refuses(spot.path, now.stat);
    if (secret !== undefined) return failed(secret);
    const expected = meets(writer, change, spot.path, now);
    if (!expected.ok) return failed(expected);
    const content = contentOf(change, now);
    if (!content.ok) return failed(content);

    const { bytes, note, before, after } = content.value;
    const digest = digestOf(bytes);
    const temp = tempName();
    const image = now === null ? null : ((await writer.journal?.keep(spot, now.bytes, now.digest)) ?? null);
    const applied: Applied = {
      kind: 'write',
      path: spot.path,
      created: now === null,
      size: bytes.length,
      version: versionOf(digest),
      before,
      after,
      note,
    };
    return ok({
      change,
      paths: [spot.path],
      applied,
      recorded: {
        kind: 'write',
        path: spot.path,
        temp,
        before: image,
        undoable: now === null || image !== null,
        after: digest,
        made: spot.made,
      },
      perform: () => replace(spot, { temp, bytes, mode: change.mode }, now),
      dispose(how) {
        if (how === 'failed') unmake(place, spot.made);
        spot.folder.close();
      },
    });
  } catch (thrown) {
    return failed(refusal(thrown, change.path));
  }
}

function imaginedWrite(writer: Writer, change: Write, located: Result<unknown>): Result<Prepared> {
  const content = contentOf(change, null);
  if (!content.ok) return content;
  const { bytes, before, after, note } = content.value;
  const version = versionOf(digestOf(bytes));
  const applied = (path: string): Applied => {
    return { kind: 'write', path, created: true, size: bytes.length, version, before, after, note };
  };
  return imagined(writer, change, { located, applied });
}

function asksForVersion({ seen, session }: Writer, { expect }: Write, path: string): boolean {
  return typeof expect === 'object' || seen.version(session, path) !== undefined;
}

/** Null when nothing is there. A large file is hashed only where its version matters. */
async function currentOf(spot: Spot, needsVersion: boolean): Promise<Result<Current | null>> {
  if (spot.stat === null) return ok(null);
  const other = notAFile(spot);
  if (other !== undefined) return other;
  const file = openFile(spot);
  if (!file.ok) return file;
  try {
    const { stat } = file.value;
    if (stat.size > WHOLE_BYTES) {
      return ok({ stat, bytes: null, digest: needsVersion ? await digestOfFile(file.value.fd) : null });
    }
    const bytes = readWhole(file.value, WHOLE_BYTES);
    return ok({ stat, bytes, digest: digestOf(bytes) });
  } finally {
    closeSync(file.value.fd);
  }
}

function meets({ seen, session }: Writer, { expect }: Write, path: string, now: Current | null): Result<void> {
  if (expect === 'absent' && now !== null) {
    return fail('CONFLICT', `${shown(path)} exists by now; nothing was changed. Read it, then decide again.`);
  }
  const wanted = typeof expect === 'object' ? expect.version : seen.version(session, path);
  if (wanted === undefined || expect === 'absent') return ok(undefined);
  if (now === null) {
    if (expect === undefined) return ok(undefined);
    return fail('CONFLICT', `${shown(path)} is gone; nothing was changed. Write it without a version to make it anew.`);
  }
  if (now.digest === null || versionOf(now.digest) === wanted) return ok(undefined);
  const message = `${shown(path)} was changed since it was read (version ${wanted}, now ${versionOf(now.digest)}); nothing was changed. Read it again.`;
  const changed = whatChanged(seen.textOf(wanted), decoded(now)?.text);
  const text = changed === null ? message : `${message}\n${changed}`;
  return fail('CONFLICT', text, { expected: wanted, version: versionOf(now.digest) });
}

interface Content {
  readonly bytes: Buffer;
  readonly before: string | null;
  readonly after: string | null;
  readonly note: string | null;
}

function contentOf({ content }: Write, now: Current | null): Result<Content> {
  const old = decoded(now);
  const before = old === null || old.text.length > DIFF_BYTES ? null : old.text;
  if (content instanceof Uint8Array) return ok({ bytes: Buffer.from(content), before, after: null, note: null });

  const kept = content.form === undefined && old !== null ? keepLineEndings(old.text, content.text) : null;
  const text = kept?.text ?? content.text;
  const form = content.form ?? old ?? { encoding: 'utf-8', bom: false };
  const bytes = encodeText(form.bom ? text.replace(/^\ufeff/, '') : text, form);
  if (!bytes.ok) return bytes;
  const note = [kept?.note, form.encoding === 'utf-8' ? null : `written as ${form.encoding}`]
    .filter(Boolean)
    .join('; ');
  const after = text.length > DIFF_BYTES ? null : text;
  return ok({ bytes: bytes.value, before, after, note: note === '' ? null : note });
}

function decoded(now: Current | null): Decoded | null {
  if (now === null || now.bytes === null) return null;
  const text = decodeText(now.bytes);
  return text.ok ? text.value : null;
}

/** temporary file → sync → rename → sync of the folder. Until the rename, the old content stands untouched. */
async function replace(
  { folder, name, path }: Spot,
  { temp, bytes, mode }: { temp: string; bytes: Buffer; mode: number | undefined },
  now: Current | null,
): Promise<Result<void>> {
  let there = false;
  try {
    const fd = openSync(folder.at(temp), CREATE, now === null ? 0o666 : 0o600);
    there = true;
    try {
      writeAll(fd, bytes);
      if (now !== null) dress(fd, now.stat);
      else if (mode !== undefined) fchmodSync(fd, mode & 0o777);
      if (bytes.length <= SYNC_BYTES) fsyncSync(fd);
      else await syncLater(fd);
    } finally {
      closeSync(fd);
    }
    const still = isStill(folder, name, now);
    if (!still) {
      unlinkSync(folder.at(temp));
      return fail(
        'CONFLICT',
        `${shown(path)} was changed by somebody else just now; nothing was changed. Read it again.`,
      );
    }
    if (now === null) claim(folder, temp, name);
    else renameSync(folder.at(temp), folder.at(name));
    there = false;
    syncFolder(folder);
    return ok(undefined);
  } catch (thrown) {
    if (there) rmSync(folder.at(temp), { force: true });
    if (errnoOf(thrown) === 'EEXIST') {
      return fail('CONFLICT', `${shown(path)} was made by somebody else just now; nothing was changed. Read it first.`);
    }
    return refusal(thrown, path);
  }
}

/** Gives the name to a file only if nobody has it: a rename would replace what appeared meanwhile. */
function claim(folder: Folder, temp: string, name: string): void {
  try {
    linkSync(folder.at(temp), folder.at(name));
    unlinkSync(folder.at(temp));
  } catch (thrown) {
    const errno = errnoOf(thrown);
    if (errno !== 'EPERM' && errno !== 'ENOTSUP' && errno !== 'EMLINK') throw thrown;
    if (folder.stat(name) !== null) throw Object.assign(new Error('exists'), { code: 'EEXIST' });
    renameSync(folder.at(temp), folder.at(name));
  }
}

/** Mode and owner of the file that is replaced. Only a privileged process can give a file away; others keep their own. */
function dress(fd: number, { mode, uid, gid }: Stats): void {
  if (uid !== process.getuid?.() || gid !== process.getgid?.()) {
    try {
      fchownSync(fd, uid, gid);
    } catch (thrown) {
      if (errnoOf(thrown) !== 'EPERM') throw thrown;
    }
  }
  fchmodSync(fd, mode & 0o7777);
}

/**
 * Whether the name still stands for what was read. By content where that is cheap, since a timestamp can lie; the very
 * last look is at the inode alone, because nothing here can compare and rename in one step.
 */
function isStill(folder: Folder, name: string, now: Current | null): boolean {
  if (!folder.isInPlace()) return false;
  if (now !== null && now.bytes !== null && now.bytes.length <= DIFF_BYTES && !holds(folder, name, now.bytes))
    return false;
  const stat = folder.stat(name);
  if (now === null || stat === null) return (now === null) === (stat === null);
  return stat.ino === now.stat.ino && stat.size === now.stat.size && stat.mtimeMs === now.stat.mtimeMs;
}

function holds(folder: Folder, name: string, bytes: Buffer): boolean {
  const fd = openSync(folder.at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    return stat.size === bytes.length && readWhole({ fd, stat }, stat.size).equals(bytes);
  } finally {
    closeSync(fd);
  }
}

function readOnly(path: string): Result<never> {
  return fail('PERMISSION_DENIED', `${shown(path)} is marked read-only: make it writable first (chmod u+w).`);
}
