import { failpoint } from '../../kernel/failpoint.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Applied, Change } from '../../kernel/world/workspace.ts';
import { prepareDelete } from './change-delete.ts';
import { prepareMove } from './change-move.ts';
import type { ChangeSet } from '../journal/change-set.ts';
import { prepareWrite } from './change-write.ts';
import { refusal } from '../../host/errno.ts';
import type { Journal } from '../journal/journal.ts';
import { shown } from '../../host/parse-path.ts';
import type { Prepared, Writer } from '../prepared.ts';
import { revert } from '../revert.ts';
import { scratchJournal } from '../scratch-journal.ts';

/**
 * Without a journal a set of several changes gets one that lives as long as it: what fails half way must go back.
 * prepare all → journal → perform each → journal that it is done. A change that fails takes back those before it, so
 * either all are on the disk or none. The caller sees to it that one set is applied at a time.
 */
export async function applyChanges(
  writer: Writer,
  callId: string,
  changes: readonly Change[],
): Promise<Result<readonly Applied[]>> {
  if (writer.journal !== undefined || changes.length < 2) return applyWith(writer, callId, changes);
  const scratch = scratchJournal();
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
): Promise<Result<readonly Applied[]>> {
  const { journal, place, session } = writer;
  const about = { callId, session, root: place.names.real };
  // What is made before the set can be written down would stay behind if we were killed in between.
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
    return refusal(thrown, 'The journal');
  } finally {
    for (const each of makings) journal?.abandon(each);
  }

  let failure: Result<never> | undefined;
  const performed: Prepared[] = [];
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
export async function rehearseChanges(writer: Writer, changes: readonly Change[]): Promise<Result<readonly Applied[]>> {
  const prepared = await prepareAll({ ...writer, journal: undefined, rehearsal: true }, changes);
  if (!prepared.ok) return prepared;
  for (const each of prepared.value) each.dispose('done');
  return ok(prepared.value.map(({ applied }) => applied));
}

async function prepareAll(writer: Writer, changes: readonly Change[]): Promise<Result<Prepared[]>> {
  const prepared: Prepared[] = [];
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
    return next.ok ? fail('INVALID_INPUT', `${shown(twice ?? '')} is changed twice: put it into one change.`) : next;
  }
  return ok(prepared);
}

function prepare(writer: Writer, change: Change): Promise<Result<Prepared>> {
  if (change.kind === 'write') return prepareWrite(writer, change);
  return change.kind === 'delete' ? prepareDelete(writer, change) : prepareMove(writer, change);
}

function remember({ seen, session }: Writer, applied: Applied): void {
  if (applied.kind === 'write') seen.remember(session, applied.path, applied.version, applied.after);
  else seen.forget(session, applied.kind === 'delete' ? applied.path : applied.from);
}

/** The last first: one may have made a folder in a folder that one before it made. */
function giveUp(prepared: readonly Prepared[]): void {
  for (const each of prepared.toReversed()) each.dispose('failed');
}

/** What could not be taken back. */
async function takeBack(
  writer: Writer,
  journal: Journal | undefined,
  performed: readonly Prepared[],
): Promise<string[]> {
  const kept: string[] = [];
  for (const each of [...performed].reverse()) {
    const back =
      journal === undefined
        ? fail('NOT_CONFIGURED', 'There is no journal.')
        : await revert(writer.place, journal, each.recorded);
    if (!back.ok) kept.push(...each.paths);
  }
  return kept;
}

function partly(failure: Result<never>, kept: readonly string[]): Result<never> {
  if (failure.ok) return failure;
  const { code, message, details } = failure.error;
  return fail(code, `${message} These changes were made before and stay: ${kept.join(', ')}.`, { ...details, kept });
}
