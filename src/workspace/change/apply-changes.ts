import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errnoFailure } from '../../host/errno.ts';
import { shortPath } from '../../host/parse-path.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { AppliedChange, Change } from '../../kernel/world/workspace.ts';
import type { ChangeSet } from '../journal/change-set.ts';
import { Journal } from '../journal/journal.ts';
import { revert } from '../journal/revert.ts';
import { prepareDelete } from './change-delete.ts';
import { prepareMove } from './change-move.ts';
import { prepareWrite } from './change-write.ts';
import type { PreparedChange, Writer } from './prepared-change.ts';

/**
 * Applies changes as a whole: prepare all → journal → perform each → journal that it is done. A change that fails undoes
 * those before it. Without a journal, a set of several changes gets one for as long as it takes. The caller applies one
 * set at a time.
 */
export async function applyChanges(
  writer: Writer,
  callId: string,
  changes: readonly Change[],
): Promise<Result<readonly AppliedChange[]>> {
  if (writer.journal !== undefined || changes.length < 2) return applyWith(writer, callId, changes);
  const scratch = createScratchJournal();
  try {
    return await applyWith({ ...writer, journal: scratch.journal }, callId, changes);
  } finally {
    scratch.remove();
  }
}

async function applyWith(
  writer: Writer,
  callId: string,
  changes: readonly Change[],
): Promise<Result<readonly AppliedChange[]>> {
  const { journal, root, session } = writer;
  const about = { callId, session, root: root.names.real };
  // A folder that is made before the set is in the journal would stay behind if the process were killed in between.
  const makings: ChangeSet[] = [];
  const aboutToMake = (path: string): void => {
    const making = journal?.newSet({ ...about, changes: [], making: path });
    if (making === undefined) return;
    journal?.begin(making);
    makings.push(making);
  };
  const prepared = await prepareAll({ ...writer, aboutToMake }, changes);
  if (!prepared.ok) {
    for (const each of makings) journal?.abandon(each);
    return prepared;
  }
  failpoint('workspace.prepared');
  const recorded = prepared.value.map((each) => each.recorded);
  const set = journal?.newSet({ ...about, changes: recorded });
  try {
    if (set !== undefined) journal?.begin(set);
  } catch (thrown) {
    giveUp(prepared.value);
    return errnoFailure(thrown, 'The journal');
  } finally {
    for (const each of makings) journal?.abandon(each);
  }

  let failure: Result<never> | undefined;
  const performed: PreparedChange[] = [];
  for (const each of prepared.value) {
    const done = await each.perform();
    if (done.ok) performed.push(each);
    else failure = done;
    if (failure !== undefined) break;
  }
  for (const each of performed) each.dispose('done');
  if (failure === undefined) {
    if (set !== undefined) journal?.commit(set);
    for (const { applied } of performed) remember(writer, applied);
    return ok(performed.map(({ applied }) => applied));
  }
  giveUp(prepared.value.slice(performed.length));
  const kept = await takeBack(writer, journal, performed);
  if (set !== undefined) journal?.abandon(set);
  return kept.length === 0 ? failure : partly(failure, kept);
}

/** Checks everything, changes nothing. */
export async function rehearseChanges(
  writer: Writer,
  changes: readonly Change[],
): Promise<Result<readonly AppliedChange[]>> {
  const prepared = await prepareAll({ ...writer, journal: undefined, rehearsal: true }, changes);
  if (!prepared.ok) return prepared;
  for (const each of prepared.value) each.dispose('done');
  return ok(prepared.value.map(({ applied }) => applied));
}

async function prepareAll(writer: Writer, changes: readonly Change[]): Promise<Result<PreparedChange[]>> {
  const prepared: PreparedChange[] = [];
  const taken = new Set<string>();
  for (const change of changes) {
    const next = await prepare(writer, change);
    const twice = next.ok ? next.value.paths.find((path) => taken.has(path)) : undefined;
    if (next.ok && twice === undefined) {
      prepared.push(next.value);
      for (const path of next.value.paths) taken.add(path);
      continue;
    }
    giveUp(next.ok ? [...prepared, next.value] : prepared);
    return next.ok
      ? fail('INVALID_INPUT', `${shortPath(twice ?? '')} is changed twice: put it into one change.`)
      : next;
  }
  return ok(prepared);
}

function prepare(writer: Writer, change: Change): Promise<Result<PreparedChange>> {
  if (change.kind === 'write') return prepareWrite(writer, change);
  return change.kind === 'delete' ? prepareDelete(writer, change) : prepareMove(writer, change);
}

function remember({ seen, session }: Writer, applied: AppliedChange): void {
  if (applied.kind === 'write') seen.remember(session, applied.path, applied.version, applied.after);
  else seen.forget(session, applied.kind === 'delete' ? applied.path : applied.from);
}

/** Begins with the last change: it may have made a folder in a folder of an earlier change. */
function giveUp(prepared: readonly PreparedChange[]): void {
  for (const each of prepared.toReversed()) each.dispose('failed');
}

/** Returns the paths that could not be restored. */
async function takeBack(
  writer: Writer,
  journal: Journal | undefined,
  performed: readonly PreparedChange[],
): Promise<string[]> {
  const kept: string[] = [];
  for (const each of [...performed].reverse()) {
    const back =
      journal === undefined
        ? fail('NOT_CONFIGURED', 'There is no journal.')
        : await revert(writer.root, journal, each.recorded);
    if (!back.ok) kept.push(...each.paths);
  }
  return kept;
}

function partly(failure: Result<never>, kept: readonly string[]): Result<never> {
  if (failure.ok) return failure;
  const { code, message, details } = failure.error;
  return fail(code, `${message} These changes were made before and stay: ${kept.join(', ')}.`, { ...details, kept });
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
