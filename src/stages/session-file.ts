import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { errnoOf } from '../host/errno.ts';
import { uniqueName } from '../host/files.ts';
import { OWN_PROCESS_ID, stateOfProcess } from '../host/process-identity.ts';

const HOLDER = 'holder';

const sessionFile = z.object({
  format: z.literal(1),
  id: z.string(),
  workspace: z.string(),
  session: z.string(),
  onto: z.string().nullable(),
  callId: z.string(),
  createdAt: z.number(),
  /** The folder of the stage. */
  folder: z.string(),
});

/** The stage of a session as a file keeps it, apart from the stage: a process finds it without a sandbox. */
export type SessionFile = z.output<typeof sessionFile>;

/** Oldest first, so that a stage comes after the one that it stands on. */
export function readSessionFiles(folder: string): SessionFile[] {
  return namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => readSessionFile(join(folder, name)) ?? [])
    .toSorted((a, b) => a.createdAt - b.createdAt);
}

function readSessionFile(path: string): SessionFile | null {
  const text = textOf(path);
  if (text === null) return null;
  try {
    const { data } = sessionFile.safeParse(JSON.parse(text));
    return data !== undefined && `${data.id}.json` === basename(path) ? data : null;
  } catch {
    return null;
  }
}

export function writeSessionFile(folder: string, file: SessionFile): void {
  const path = join(folder, `${file.id}.json`);
  writeFileSync(`${path}.new`, JSON.stringify(file), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function removeSessionFile(folder: string, id: string): void {
  rmSync(join(folder, `${id}.json`), { force: true });
}

/** Takes a stage for this process. `elsewhere` when another one has it, or may have it; `gone` when there is none. */
export function claimStage(folder: string): 'ours' | 'elsewhere' | 'gone' {
  const file = join(folder, HOLDER);
  const holder = textOf(file);
  if (holder === OWN_PROCESS_ID) return 'ours';
  if (holder !== null && (stateOfProcess(holder) !== 'gone' || !removeClaim(folder, holder))) return 'elsewhere';
  try {
    writeFileSync(file, OWN_PROCESS_ID, { mode: 0o600, flag: 'wx' });
    return 'ours';
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return 'elsewhere';
    if (errnoOf(error) === 'ENOENT') return 'gone';
    throw error;
  }
}

/** Removes the claim of a process that has ended. False when another process was faster, whose claim stays. */
function removeClaim(folder: string, ended: string): boolean {
  const aside = join(folder, uniqueName(HOLDER));
  try {
    renameSync(join(folder, HOLDER), aside);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
  if (textOf(aside) !== ended) {
    renameSync(aside, join(folder, HOLDER));
    return false;
  }
  rmSync(aside, { force: true });
  return true;
}

/** Gives up the claim of this process, so that another one can take the stage. */
export function releaseStage(folder: string): void {
  const file = join(folder, HOLDER);
  if (textOf(file) === OWN_PROCESS_ID) rmSync(file, { force: true });
}

/** Null when it is not there. Throws any other failure: a file that cannot be read now must not look like none. */
function textOf(file: string): string | null {
  return unlessMissing(() => readFileSync(file, 'utf8'), null);
}

function namesIn(folder: string): string[] {
  return unlessMissing(() => readdirSync(folder), []);
}

function unlessMissing<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return otherwise;
  }
}
