import { catchErrno } from '../host/errno.ts';
import { versionOf } from '../host/file-version.ts';
import type { RunExclusive } from '../host/mutex.ts';
import { parsePath, shortPath } from '../host/parse-path.ts';
import { typeOf } from '../host/visit-tree.ts';
import { missingPathOf, type ResolvedPath } from '../host/walk-path.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Access } from '../kernel/tool/access.ts';
import type { AppliedChange, ApplyOptions, Caller, Change, Files, Inspection } from '../kernel/world/workspace.ts';
import { applyChanges, rehearseChanges } from './change/apply-changes.ts';
import type { Writer } from './change/prepared-change.ts';
import { digestAt } from './journal/current-state.ts';
import { ContentCache } from './read/file-content.ts';
import { listFolder } from './read/list.ts';
import { readBytes, readText, readWindow } from './read/read.ts';
import { suggestPaths } from './read/suggest.ts';

/** A workspace's files as one call sees them: bound to its session, and to what it was admitted to change. */
export function filesFor(caller: Caller, shared: Omit<Writer, 'contents'>, oneByOne: RunExclusive): Files {
  const { root, secrets, seen, session } = shared;
  const contents = new ContentCache();
  const writer: Writer = { ...shared, contents };
  const reader = {
    root,
    secrets,
    contents,
    get signal() {
      return caller.signal;
    },
  };

  // Where each path led when the call was last judged.
  const judged = new Map<string, JudgedPath>();

  function inspect(path: string): Result<Inspection> {
    const found = look(path);
    if (!found.ok) protectionItself(path);
    return found;
  }

  function look(path: string): Result<Inspection> {
    const located = root.locate(path, { last: 'follow' });
    if (!located.ok) return missing(path, located);
    const spot = located.value;
    return catchErrno(path, () => {
      try {
        return ok({
          path: spot.path === '' ? '.' : spot.path,
          type: spot.stat === null ? null : typeOf(spot.stat),
          size: spot.stat?.size ?? 0,
          // Rarely asked for.
          get modified() {
            return spot.stat?.mtime.toISOString() ?? null;
          },
          protectedBecause: protection(path, spot),
          stale: isStale(spot),
        });
      } finally {
        spot.folder.close();
      }
    });
  }

  /** A path that does not exist yet is judged by where it would be. */
  function missing(path: string, failure: Result<never>): Result<Inspection> {
    if (failure.ok || failure.error.code !== 'FILE_NOT_FOUND') return failure;
    const names = parsePath(path, root.names);
    if (!names.ok) return names;
    const { path: real, via } = missingPathOf(failure) ?? { path: names.value.join('/'), via: [] };
    for (const each of [real, ...via]) {
      const refused = root.refuses(each);
      if (!refused.ok) return refused;
    }
    const protectedBecause = protection(path, { path: real, via });
    return ok({ path: real, type: null, size: 0, modified: null, protectedBecause, stale: false });
  }

  /** A symlink to a refused place can still be deleted and moved: then its own path is judged. */
  function protectionItself(path: string): void {
    const located = root.locate(path, { last: 'keep' });
    if (located.ok) located.value.folder.close();
    if (located.ok) protection(path, located.value);
    else remember(path, { places: [], isProtected: false });
  }

  function protection(given: string, spot: Pick<ResolvedPath, 'path' | 'via'>): string | null {
    const why = root.protection(spot);
    remember(given, { places: [spot.path, ...spot.via], isProtected: why !== null });
    return why;
  }

  /** Paths that a tool looks at while it runs are not judged any more. */
  function remember(given: string, judgement: JudgedPath): void {
    if (caller.admitted === null) judged.set(given, judgement);
  }

  function isStale(spot: ResolvedPath): boolean {
    const known = seen.version(session, spot.path);
    const digest = known === undefined ? null : digestAt(spot, (bytes) => contents.of(bytes).digest);
    return digest !== null && versionOf(digest) !== known;
  }

  function admitted(changes: readonly Change[]): Result<readonly Change[]> {
    const access = caller.admitted;
    if (access === null) return fail('INTERNAL', 'Files can be changed only by a call that was admitted.');
    const bound: Change[] = [];
    for (const change of changes) {
      const outside = touched(change).find((path) => !access.some((each) => covers(each, plain(path), plain)));
      if (outside !== undefined) {
        return fail('INTERNAL', `The tool changes ${shortPath(outside)}, which it did not declare in access.`);
      }
      bound.push(change.kind === 'write' ? withExpectation(change, access) : change);
    }
    return ok(bound);
  }

  function withExpectation(change: Extract<Change, { kind: 'write' }>, access: readonly Access[]): Change {
    if (change.expect !== undefined) return change;
    const declared = access.find((each) => each.kind === 'fs.write' && plain(each.path) === plain(change.path));
    return declared?.kind === 'fs.write' && declared.expect !== undefined
      ? { ...change, expect: declared.expect }
      : change;
  }

  function plain(path: string): string {
    const names = parsePath(path, root.names);
    return names.ok ? names.value.join('/') : path;
  }

  async function apply(changes: readonly Change[], options?: ApplyOptions): Promise<Result<readonly AppliedChange[]>> {
    const bound = admitted(changes);
    if (!bound.ok) return bound;
    if (options?.onto != null) return standsOnNothing(options.onto);
    const done = await oneByOne(() =>
      applyChanges({ ...writer, stillOpen }, { callId: caller.callId, ...options, changes: bound.value }),
    );
    if (!done.ok) return done;
    writer.authors.note(options?.callId ?? caller.callId, done.value, modifiedAt);
    noteWritten(shared, bound.value, done.value);
    return done;
  }

  function modifiedAt(path: string): number | null {
    return root.statUnjudged(path)?.mtimeMs ?? null;
  }

  /**
   * Checks that no symlink leads elsewhere since the call was judged: to a place that needs approval, or to another one
   * than was approved.
   */
  function stillOpen(given: string, spot: Pick<ResolvedPath, 'path' | 'via'>): Result<void> {
    const before = judged.get(given);
    const isThere = before?.isProtected === true && before.places.includes(spot.path);
    const why = before === undefined || isThere ? null : root.protection(spot);
    if (why === null) return ok(undefined);
    return fail('CONFLICT', `${shortPath(given)} leads elsewhere by now; nothing was changed. ${why} Try again.`);
  }

  return {
    inspect,
    list: (path, query) => listFolder(root, path, query),
    async readWindow(path, query) {
      const read = await readWindow(reader, path, query);
      if (!read.ok || 'binary' in read.value || read.value.version === null) return read;
      const { path: real, version, content, more, first, cutLines } = read.value;
      seen.remember(session, real, version, more || first > 1 || cutLines > 0 ? null : content);
      return read;
    },
    readText: (path) => readText(reader, path),
    async readBytes(path, maxBytes) {
      const read = await readBytes(reader, path, maxBytes);
      if (read.ok) seen.remember(session, read.value.path, read.value.version);
      return read;
    },
    apply,
    rehearse: (changes) => oneByOne(() => rehearseChanges(writer, changes)),
    suggest: (path) => suggestPaths(root, path),
    secretIn: (text) => writer.values.foundIn(text),
  };
}

interface JudgedPath {
  /** The real place and what led there. A link that is deleted itself is among the latter. */
  readonly places: readonly string[];
  readonly isProtected: boolean;
}

/** Whether an access allows a change of a path, which is plain already. */
function covers(access: Access, path: string, plain: (path: string) => string): boolean {
  if (access.kind === 'unknown' || access.kind === 'fs.apply') return true;
  return (access.kind === 'fs.write' || access.kind === 'fs.delete') && isBelow(plain(access.path), path);
}

function touched(change: Change): string[] {
  return change.kind === 'move' ? [change.from, change.to] : [change.path];
}

function isBelow(folder: string, path: string): boolean {
  return folder === '' || folder === path || path.startsWith(`${folder}/`);
}

function noteWritten(
  { seen, session }: Pick<Writer, 'seen' | 'session'>,
  changes: readonly Change[],
  applied: readonly AppliedChange[],
): void {
  for (const change of changes) {
    const { version = null } = change.kind === 'take' ? change.content : {};
    if (change.kind === 'take' && version !== null) seen.noteWritten(session, change.path, version);
  }
  for (const each of applied) if (each.kind === 'write') seen.noteWritten(session, each.path, each.version);
}

function standsOnNothing(session: string): Result<never> {
  const next = 'discard these, or do the work again.';
  return fail('CONFLICT', `The changes of ${session} that these stand on were decided about: ${next}`);
}
