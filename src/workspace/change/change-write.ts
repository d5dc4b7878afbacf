import { closeSync, type Stats } from 'node:fs';
import { createTwoFilesPatch } from 'diff';
import { errnoFailure } from '../../host/errno.ts';
import { digestOf, digestOfFile, versionOf } from '../../host/file-version.ts';
import { MAX_WHOLE_BYTES, notAFile, openFile, readWhole } from '../../host/open-file.ts';
import { shortPath } from '../../host/parse-path.ts';
import type { ResolvedPath } from '../../host/walk-path.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { AppliedChange, Change } from '../../kernel/world/workspace.ts';
import { obeyedDigest } from '../authorship/obeyed-digest.ts';
import type { Snapshot } from '../journal/change-set.ts';
import { encodeText } from '../read/decode-text.ts';
import { FileContent } from '../read/file-content.ts';
import { secretWithheld } from '../read/secret-withheld.ts';
import { leadsAsPlanned } from './planned-place.ts';
import { type PreparedChange, tempName, type Writer } from './prepared-change.ts';
import { folderMaker, rehearseBelowMissing, wouldMake } from './rehearsal.ts';
import { removeCreatedFolders } from './remove-created-folders.ts';
import { replaceFile } from './replace-file.ts';

type Write = Extract<Change, { kind: 'write' }>;

/** Larger texts are not handed back for a diff. */
const DIFF_BYTES = 1024 * 1024;

export async function prepareWrite(writer: Writer, change: Write): Promise<Result<PreparedChange>> {
  const { root, secrets } = writer;
  const make = change.createDirs === false ? {} : { make: folderMaker(writer) };
  const located = root.locate(change.path, { last: 'follow', ...make });
  if (wouldMake(located)) return imaginedWrite(writer, change, located);
  if (!located.ok) return located;
  const spot = located.value;
  const failed = (result: Result<never>): Result<never> => {
    removeCreatedFolders(root, spot.made);
    spot.folder.close();
    return result;
  };

  try {
    const same = leadsAsPlanned(writer, change.path, spot);
    if (!same.ok) return failed(same);
    const current = await currentOf(spot, change, asksForVersion(writer, change, spot.path));
    if (!current.ok) return failed(current);
    const now = current.value;
    if (now !== null && (now.stat.mode & 0o222) === 0) return failed(readOnly(spot.path));
    const secret = now === null ? undefined : await secrets.refuse(spot.path, now.stat);
    if (secret !== undefined) return failed(secret);
    const withheld = now?.bytes ? secretWithheld(root, spot.path, now.bytes) : undefined;
    if (withheld !== undefined) return failed(withheld);
    const expected = meets(writer, change, spot.path, now);
    if (!expected.ok) return failed(expected);
    const content = contentOf(change, now);
    if (!content.ok) return failed(content);

    const { bytes, note, before, after } = content.value;
    const fresh = new FileContent(bytes);
    const temp = tempName();
    const image = now === null ? null : (writer.journal?.snapshots.keep(spot, now.bytes, now.digest) ?? null);
    const applied: AppliedChange = {
      kind: 'write',
      path: spot.path,
      created: now === null,
      size: bytes.length,
      // A rehearsal of a large file is rarely asked for these.
      get version() {
        return versionOf(fresh.digest);
      },
      before,
      after,
      note,
    };
    return ok({
      places: [spot],
      phase: now === null ? 'new' : 'changed',
      applied,
      basis: now?.content ?? null,
      ...(now !== null && { before: () => (now.bytes === null ? undefined : obeyedDigest(spot.path, now.bytes)) }),
      ...(writer.rehearsal && { versions: { [spot.path]: now?.digest ? versionOf(now.digest) : 'absent' } }),
      recorded: {
        kind: 'write',
        path: spot.path,
        temp,
        before: image,
        undoable: now === null || image !== null,
        get after() {
          return fresh.digest;
        },
        made: spot.made,
      },
      perform: () => replaceFile(spot, { temp, bytes, mode: change.mode, image: linkOf(writer, image) }, now),
      dispose(how) {
        if (how === 'failed') removeCreatedFolders(root, spot.made);
        spot.folder.close();
      },
    });
  } catch (thrown) {
    return failed(errnoFailure(thrown, change.path));
  }
}

function linkOf({ journal }: Writer, image: Snapshot | null): string | null {
  return journal === undefined || image?.by !== 'link' ? null : journal.snapshots.folder.at(image.name);
}

function imaginedWrite(writer: Writer, change: Write, located: Result<unknown>): Result<PreparedChange> {
  const content = contentOf(change, null);
  if (!content.ok) return content;
  const { bytes, before, after, note } = content.value;
  const version = versionOf(digestOf(bytes));
  return rehearseBelowMissing(writer, located, (path) => ({
    applied: { kind: 'write', path, created: true, size: bytes.length, version, before, after, note },
    versions: { [path]: 'absent' },
  }));
}

function asksForVersion({ seen, session, rehearsal }: Writer, { expect }: Write, path: string): boolean {
  return rehearsal === true || typeof expect === 'object' || seen.version(session, path) !== undefined;
}

interface CurrentContent {
  readonly stat: Stats;
  /** Null of a file that is too large to be held. */
  readonly content: FileContent | null;
  readonly bytes: Buffer | null;
  readonly digest: string | null;
}

/** Null when nothing is there. A large file is hashed only where its version matters. */
async function currentOf(
  spot: ResolvedPath,
  { basis }: Write,
  needsVersion: boolean,
): Promise<Result<CurrentContent | null>> {
  if (spot.stat === null) return ok(null);
  const other = notAFile(spot);
  if (other !== undefined) return other;
  const file = openFile(spot);
  if (!file.ok) return file;
  try {
    const { stat } = file.value;
    if (stat.size > MAX_WHOLE_BYTES) {
      const digest = needsVersion ? await digestOfFile(file.value.fd) : null;
      return ok({ stat, content: null, bytes: null, digest });
    }
    const content = FileContent.of(readWhole(file.value, MAX_WHOLE_BYTES), basis);
    return ok({ stat, content, bytes: content.bytes, digest: content.digest });
  } finally {
    closeSync(file.value.fd);
  }
}

function meets({ seen, session }: Writer, { expect }: Write, path: string, now: CurrentContent | null): Result<void> {
  if (expect === 'absent' && now !== null) {
    return fail('CONFLICT', `${shortPath(path)} exists by now; nothing was changed. Read it, then decide again.`);
  }
  const wanted = typeof expect === 'object' ? expect.version : seen.version(session, path);
  if (wanted === undefined || expect === 'absent') return ok(undefined);
  if (now === null) {
    if (expect === undefined) return ok(undefined);
    return fail(
      'CONFLICT',
      `${shortPath(path)} is gone; nothing was changed. Write it without a version to make it anew.`,
    );
  }
  if (now.digest === null || versionOf(now.digest) === wanted) return ok(undefined);
  const message = `${shortPath(path)} was changed since it was read (version ${wanted}, now ${versionOf(now.digest)}); nothing was changed. Read it again.`;
  const changed = describeChange(seen.textOf(wanted), now.content?.text?.text);
  const text = changed === null ? message : `${message}\n${changed}`;
  return fail('CONFLICT', text, { expected: wanted, version: versionOf(now.digest) });
}

interface NewContent {
  readonly bytes: Buffer;
  readonly before: string | null;
  readonly after: string | null;
  readonly note: string | null;
}

function contentOf({ content }: Write, now: CurrentContent | null): Result<NewContent> {
  const old = now?.content?.text ?? null;
  const before = old === null || old.text.length > DIFF_BYTES ? null : old.text;
  if (content instanceof Uint8Array) return ok({ bytes: Buffer.from(content), before, after: null, note: null });

  const kept = content.form === undefined && old !== null ? keepLineEndings(old.text, content.text) : null;
  const text = kept?.text ?? content.text;
  const form = content.form ?? old ?? { encoding: 'utf-8', bom: false };
  // Read together with its form, a text has no mark of its own: one at its beginning is another, and the file's.
  const isMarked = content.form === undefined && form.bom;
  const bytes = encodeText(isMarked ? text.replace(/^\ufeff/, '') : text, form);
  if (!bytes.ok) return bytes;
  const note = [kept?.note, form.encoding === 'utf-8' ? null : `written as ${form.encoding}`]
    .filter(Boolean)
    .join('; ');
  const after = text.length > DIFF_BYTES ? null : text;
  return ok({ bytes: bytes.value, before, after, note: note === '' ? null : note });
}

function readOnly(path: string): Result<never> {
  return fail('PERMISSION_DENIED', `${shortPath(path)} is marked read-only: make it writable first (chmod u+w).`);
}

/** A text for a file whose every line ends with CRLF gets the same, if it uses LF throughout. Mixed files are left alone. */
function keepLineEndings(old: string, text: string): { text: string; note: string | null } {
  const usesCrlf = old.includes('\r\n') && !/(?:^|[^\r])\n/.test(old);
  if (!usesCrlf || text.includes('\r') || !text.includes('\n')) return { text, note: null };
  return { text: text.replace(/\n/g, '\r\n'), note: 'CRLF line endings kept' };
}

const MAX_DIFF_LINES = 30;

/** Returns a short diff of what changed since the file was read. Null when the old text is not known any more, or when comparing would take long. */
function describeChange(old: string | undefined, now: string | undefined): string | null {
  if (old === undefined || now === undefined) return null;
  const patch = createTwoFilesPatch('read', 'now', old, now, '', '', { context: 1, timeout: 200 });
  if (patch === undefined) return null;
  const lines = patch
    .slice(Math.max(0, patch.indexOf('@@ ')))
    .trimEnd()
    .split('\n');
  const rest = lines.length - MAX_DIFF_LINES;
  return lines.slice(0, MAX_DIFF_LINES).join('\n') + (rest > 0 ? `\n[${rest} more lines of the diff]` : '');
}
