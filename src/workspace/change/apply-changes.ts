import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catchErrnoAsync } from '../../host/errno.ts';
import { shortPath } from '../../host/parse-path.ts';
import { knownCode } from '../../kernel/error.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { AppliedChange, Change, RehearsedChange } from '../../kernel/world/workspace.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { type AgreedChange, agreedChanges, noteAgreed, noteChanges } from '../authorship/note-changes.ts';
import type { ChangeSet, RecordedChange } from '../journal/change-set.ts';
import { Journal } from '../journal/journal.ts';
import { revert } from '../journal/revert.ts';
import { prepareTake } from '../take/change-take.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import { prepareDelete } from './change-delete.ts';
import { prepareMode } from './change-mode.ts';
import { prepareMove } from './change-move.ts';
import { prepareWrite } from './change-write.ts';
import { joinConflicts } from './expectation.ts';
import { OpenFolders } from './open-folders.ts';
import { type DeletedPaths, findDeleted, inSafeOrder, isStaged } from './order-changes.ts';
import { toPlannedPlaces } from './planned-place.ts';
import type { PreparedChange, SetScope, Writer } from './prepared-change.ts';
import { SetSync } from './sync-set.ts';

/** The call that changes belong to, and the changes. */
export interface ChangeRequest {
  readonly callId: string;
  /** The pending changes that are kept by them. */
  readonly stage?: string;
  readonly changes: readonly Change[];
}

/**
 * Applies changes as a whole: prepare all → make copies → journal → perform each → sync → journal that it is done. A
 * change that fails undoes those before it. Without a journal, a set of several changes gets one for as long as it takes.
 * The caller applies one set at a time.
 */
export async function applyChanges(writer: Writer, request: ChangeRequest): Promise<Result<readonly AppliedChange[]>> {
  if (writer.journal !== undefined || request.changes.length < 2) return applyWith(writer, request);
  const scratch = createScratchJournal();
  try {
    return await applyWith({ ...writer, journal: scratch.journal }, request);
  } finally {
    scratch.remove();
  }
}

async function applyWith(writer: Writer, request: ChangeRequest): Promise<Result<readonly AppliedChange[]>> {
  const done = await applyOnce(writer, request, 'across');
  const mustCopy = !done.ok && done.error.details?.errno === 'EXDEV' && isStaged(request.changes);
  return mustCopy ? applyOnce(writer, request, 'all') : done;
}

async function applyOnce(
  writer: Writer,
  { callId, stage, changes }: ChangeRequest,
  copies: SetScope['copies'],
): Promise<Result<readonly AppliedChange[]>> {
  const { journal, root, session } = writer;
  const deleted = findDeleted(changes, root.names);
  if (!deleted.ok) return deleted;
  const scope = newScope(root, deleted.value, copies);
  const about = { callId, session, root: root.names.real };
  // A folder or copy that is made before the set is in the journal would stay behind if the process were killed in between.
  const makings: ChangeSet[] = [];
  const announce = (what: Pick<ChangeSet, 'making' | 'temps'>): void => {
    const making = journal?.newSet({ ...about, changes: [], ...what });
    if (making === undefined) return;
    journal?.begin(making);
    makings.push(making);
  };
  const abandonMakings = (): void => {
    for (const each of makings) journal?.abandon(each);
  };
  try {
    const prepared = await prepareAll({ ...writer, aboutToMake: (making) => announce({ making }) }, scope, changes);
    if (!prepared.ok) {
      abandonMakings();
      return prepared;
    }
    let agreed: readonly AgreedChange[] = [];
    const ordered = isStaged(changes) ? inSafeOrder(prepared.value) : prepared.value;
    const begun = await begin(ordered, announce, (recorded) => {
      agreed = agreedChanges(writer, changes, prepared.value);
      noteChanges(writer, ordered);
      const set = journal?.newSet({ ...about, changes: recorded, ...(stage !== undefined && { stage }) });
      if (set !== undefined) journal?.begin(set);
      return set;
    });
    abandonMakings();
    if (!begun.ok) return begun;
    const performed = await performAll(writer, scope, { ordered, set: begun.value });
    if (!performed.ok) return performed;
    noteAgreed(writer, agreed);
    return ok(prepared.value.map(({ applied }) => applied));
  } finally {
    scope.folders.close();
  }
}

function newScope(root: WorkspaceRoot, deleted: DeletedPaths, copies: SetScope['copies']): SetScope {
  const [folders, sync] = [new OpenFolders(root), new SetSync(root)];
  return { folders, sync, ...deleted, made: new Set(), touched: [], copies };
}

/** Makes the copies that the changes need, then writes the set to the journal. A failure leaves nothing behind. */
async function begin(
  ordered: readonly PreparedChange[],
  announce: (what: Pick<ChangeSet, 'temps'>) => void,
  record: (changes: RecordedChange[]) => ChangeSet | undefined,
): Promise<Result<ChangeSet | undefined>> {
  const ready = await catchErrnoAsync('The journal', async () => {
    const temps = ordered.flatMap(({ temp }) => temp ?? []);
    if (temps.length > 0) announce({ temps });
    const yielder = createYielder();
    for (const each of ordered) {
      const made = (await each.makeReady?.()) ?? ok(undefined);
      if (!made.ok) return made;
      if (yielder.isDue()) await yielder.pause();
    }
    failpoint('workspace.prepared');
    return ok(record(ordered.map(({ recorded }) => recorded)));
  });
  if (!ready.ok) giveUp(ordered);
  return ready;
}

async function performAll(
  writer: Writer,
  scope: SetScope,
  { ordered, set }: { readonly ordered: readonly PreparedChange[]; readonly set: ChangeSet | undefined },
): Promise<Result<void>> {
  const { journal } = writer;
  const performed: PreparedChange[] = [];
  const yielder = createYielder();
  let done: Result<void> = ok(undefined);
  for (const each of ordered) {
    done = await each.perform();
    if (!done.ok) break;
    performed.push(each);
    if (yielder.isDue()) await yielder.pause();
  }
  if (done.ok) done = await scope.sync.finish();
  for (const each of performed) each.dispose('done');
  if (done.ok) {
    failpoint('workspace.performed');
    if (set !== undefined) journal?.commit(set);
    for (const { applied } of performed) remember(writer, applied);
    return done;
  }
  giveUp(ordered.slice(performed.length));
  const kept = await takeBack(writer, performed);
  if (set !== undefined) journal?.abandon(set);
  return kept.length === 0 ? done : partly(done, kept);
}

/** Checks everything, changes nothing. */
export async function rehearseChanges(
  writer: Writer,
  changes: readonly Change[],
): Promise<Result<readonly RehearsedChange[]>> {
  const deleted = findDeleted(changes, writer.root.names);
  if (!deleted.ok) return deleted;
  const scope = newScope(writer.root, deleted.value, 'across');
  try {
    const prepared = await prepareAll({ ...writer, journal: undefined, rehearsal: true }, scope, changes);
    if (!prepared.ok) return prepared;
    for (const each of prepared.value) each.dispose('done');
    return ok(await rehearsedChanges(writer, changes, prepared.value));
  } finally {
    scope.folders.close();
  }
}

async function rehearsedChanges(
  writer: Writer,
  changes: readonly Change[],
  prepared: readonly PreparedChange[],
): Promise<RehearsedChange[]> {
  const rehearsed: RehearsedChange[] = [];
  const yielder = createYielder();
  for (const [index, change] of changes.entries()) {
    const each = prepared[index] as PreparedChange;
    const { applied, versions = {}, basis } = each;
    rehearsed.push({ applied, versions, places: toPlannedPlaces(writer, change, each), basis: basis ?? undefined });
    if (yielder.isDue()) await yielder.pause();
  }
  return rehearsed;
}

/** All of them in the order given, or the first failure; of paths that differ from what is expected, all are named. */
async function prepareAll(
  writer: Writer,
  scope: SetScope,
  changes: readonly Change[],
): Promise<Result<PreparedChange[]>> {
  const prepared: PreparedChange[] = [];
  const taken = new Set<string>();
  const conflicting: string[] = [];
  let failure: Result<never> | undefined;
  const yielder = createYielder();
  for (const change of changes) {
    const next = await prepare(writer, scope, change);
    if (next.ok) {
      prepared.push(next.value);
      // A path that becomes another kind of thing is deleted and taken.
      for (const { path } of next.value.places) {
        const key = next.value.phase === 'swap' ? `delete ${path}` : path;
        if (taken.has(key)) failure = changedTwice(path);
        taken.add(key);
      }
    } else {
      if (next.error.code === 'CONFLICT') conflicting.push('path' in change ? change.path : change.to);
      if (next.error.code !== 'CONFLICT' || failure === undefined) failure = next;
    }
    if (failure !== undefined && !(conflicting.length > 0 && comparesPaths(change))) break;
    if (yielder.isDue()) await yielder.pause();
  }
  failure ??= await refuseSecrets(writer, scope);
  if (failure === undefined) return ok(prepared);
  giveUp(prepared);
  return conflicting.length > 0 && !failure.ok && failure.error.code === 'CONFLICT'
    ? joinConflicts(conflicting, failure)
    : failure;
}

/** A change of a stage says what it expects, so a person is told about all paths at once. */
function comparesPaths(change: Change): boolean {
  return change.kind === 'take' || change.kind === 'mode' || (change.kind === 'delete' && change.expect !== undefined);
}

async function refuseSecrets({ secrets }: Writer, { touched }: SetScope): Promise<Result<never> | undefined> {
  const [first] = await secrets.among(touched);
  return first === undefined ? undefined : secrets.refuse(first.path, first.stat);
}

function changedTwice(path: string): Result<never> {
  return fail('INVALID_INPUT', `${shortPath(path)} is changed twice: put it into one change.`);
}

function prepare(writer: Writer, scope: SetScope, change: Change): Promise<Result<PreparedChange>> {
  switch (change.kind) {
    case 'write':
      return prepareWrite(writer, change);
    case 'delete':
      return prepareDelete(writer, scope, change);
    case 'move':
      return prepareMove(writer, change);
    case 'take':
      return prepareTake(writer, scope, change);
    case 'mode':
      return prepareMode(writer, scope, change);
  }
}

/** A file that a command changed stays known as it was read: the session has not seen its new content. */
function remember({ seen, session }: Writer, applied: AppliedChange): void {
  if (applied.kind === 'write') seen.remember(session, applied.path, applied.version, applied.after);
  if (applied.kind === 'delete') seen.forget(session, applied.path);
  if (applied.kind === 'move') seen.forget(session, applied.from);
}

/** Begins with the last change: it may have made a folder in a folder of an earlier change. */
function giveUp(prepared: readonly PreparedChange[]): void {
  for (const each of prepared.toReversed()) each.dispose('failed');
}

/** Returns the paths that could not be restored. */
async function takeBack({ root, journal }: Writer, performed: readonly PreparedChange[]): Promise<string[]> {
  const kept: string[] = [];
  const sync = new SetSync(root);
  sync.expect(performed.length);
  for (const each of [...performed].reverse()) {
    const back =
      journal === undefined
        ? fail('NOT_CONFIGURED', 'There is no journal.')
        : await revert({ root, journal, sync, purpose: 'fail' }, each.recorded);
    if (!back.ok) kept.push(...each.places.map(({ path }) => path));
  }
  await sync.finish();
  return kept;
}

function partly(failure: Result<never>, kept: readonly string[]): Result<never> {
  if (failure.ok) return failure;
  const { code, message, details } = failure.error;
  const text = `${message} These changes were made before and stay: ${kept.join(', ')}.`;
  return fail(knownCode(code), text, { ...details, kept });
}

/** A journal for one set of changes: replaced files are kept until all changes are made. */
function createScratchJournal(): { journal: Journal; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-set-'));
  const journal = new Journal({ folder, lasts: false });
  return {
    journal,
    remove() {
      // Removes files in read-only folders too, which rmSync does not.
      journal.snapshots.prune(0);
      journal.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
