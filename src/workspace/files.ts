import { catchErrno } from '../host/errno.ts';
import type { RunExclusive } from '../host/mutex.ts';
import { parsePath, shortPath } from '../host/parse-path.ts';
import { typeOf } from '../host/visit-tree.ts';
import { missingPathOf } from '../host/walk-path.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Access } from '../kernel/tool/access.ts';
import type { AppliedChange, ApplyOptions, Caller, Change, Files, Inspection } from '../kernel/world/workspace.ts';
import { applyChanges, rehearseChanges } from './change/apply-changes.ts';
import { pathsOf } from './change/planned-place.ts';
import type { Writer } from './change/prepared-change.ts';
import { listFolder } from './read/list.ts';
import { readBytes, readText, readWindow } from './read/read.ts';
import { suggestPaths } from './read/suggest.ts';

/** A workspace's files as one call sees them: bound to its session, and to what it was admitted to change. */
export function filesFor(caller: Caller, writer: Writer, oneByOne: RunExclusive): Files {
  const { root, secrets, seen, session } = writer;
  const reader = {
    root,
    secrets,
    get signal() {
      return caller.signal;
    },
  };

  function inspect(path: string, last: 'follow' | 'keep' = 'follow'): Result<Inspection> {
    const located = root.locate(path, { last });
    if (!located.ok) return missing(path, located);
    const spot = located.value;
    return catchErrno(path, () => {
      try {
        const type = spot.stat === null ? null : typeOf(spot.stat);
        return ok({ path: spot.path === '' ? '.' : spot.path, type, protectedBecause: root.protection(spot) });
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
    const place = missingPathOf(failure) ?? { path: names.value.join('/'), via: [] };
    for (const each of [place.path, ...place.via]) {
      const refused = root.refuses(each);
      if (!refused.ok) return refused;
    }
    return ok({ path: place.path, type: null, protectedBecause: root.protection(place) });
  }

  function admitted(changes: readonly Change[]): Result<readonly Change[]> {
    const access = caller.admitted;
    if (access === null) return fail('INTERNAL', 'Files can be changed only by a call that was admitted.');
    const bound: Change[] = [];
    for (const change of changes) {
      const outside = pathsOf(change).find(
        (path) => !access.some((each) => permits(each, change) && covers(each, plain(path), plain)),
      );
      if (outside !== undefined) {
        return fail('INTERNAL', `The tool changes ${shortPath(outside)}, which it did not declare in access.`);
      }
      bound.push(withExpectation(change, access));
    }
    return ok(bound);
  }

  function withExpectation(change: Change, access: readonly Access[]): Change {
    if (change.kind === 'move')
      return expectedAt(change.to, access) === 'absent' ? { ...change, overwrite: false } : change;
    if (change.kind !== 'write' || change.expect !== undefined) return change;
    const expect = expectedAt(change.path, access);
    return expect === undefined ? change : { ...change, expect };
  }

  function expectedAt(path: string, access: readonly Access[]) {
    const declared = access.find((each) => each.kind === 'fs.write' && plain(each.path) === plain(path));
    return declared?.kind === 'fs.write' ? declared.expect : undefined;
  }

  function plain(path: string): string {
    const names = parsePath(path, root.names);
    return names.ok ? names.value.join('/') : path;
  }

  async function apply(changes: readonly Change[], options?: ApplyOptions): Promise<Result<readonly AppliedChange[]>> {
    const bound = admitted(changes);
    if (!bound.ok) return bound;
    if (options?.onto != null) return standsOnNothing(options.onto);
    const planned = new Map(caller.places?.map((place) => [place.given, place]));
    const done = await oneByOne(() =>
      applyChanges(
        { ...writer, planned, agreedPaths: caller.agreedPaths ?? [] },
        { callId: caller.callId, ...options, changes: bound.value },
      ),
    );
    if (!done.ok) return done;
    writer.authors.note(options?.callId ?? caller.callId, done.value, modifiedAt);
    noteWritten(writer, bound.value, done.value);
    return done;
  }

  function modifiedAt(path: string): number | null {
    return root.statUnjudged(path)?.mtimeMs ?? null;
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

/** Whether an access allows this kind of change: one that only moves a file away does not allow to delete it. */
function permits(access: Access, change: Change): boolean {
  if (access.kind !== 'fs.delete' || access.movedTo === undefined) return true;
  return change.kind === 'move' && change.to === access.movedTo;
}

/** Whether an access allows a change of a path, which is plain already. */
function covers(access: Access, path: string, plain: (path: string) => string): boolean {
  if (access.kind === 'unknown' || access.kind === 'fs.apply') return true;
  return (access.kind === 'fs.write' || access.kind === 'fs.delete') && isBelow(plain(access.path), path);
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
