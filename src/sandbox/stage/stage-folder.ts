import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { statOf, uniqueName } from '../../host/files.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { StageFolder } from '../../kernel/world/stage.ts';

/**
 * The files of a stage: `content` (what its runs wrote, or a whole copy) and a record of how it was made. The caller that
 * made the folder may put files of its own beside them.
 */
export interface StageFiles {
  readonly folder: string;
  readonly content: string;
  /** Content of the stages below, nearest first. */
  readonly below: readonly string[];
  readonly followsHost: boolean;
  /** Null before its first run. */
  readonly record: StageRecord | null;
}

export interface StageRecord {
  readonly kind: 'overlay' | 'copy';
  readonly workspace: string;
  /** Of a copy: its names when it was made, and those that the host's edits brought since, by folder. All are strings of bytes. */
  readonly copied?: readonly (readonly [folder: string, names: readonly string[]])[];
  /** Folders of a copy over which overlays lie; in the copy are their upper layers. Strings of bytes. */
  readonly overlaid?: readonly string[];
  /** Entries that the host's edits brought into a copy, with their identity there. */
  readonly placed?: readonly (readonly [path: string, identity: string])[];
  /** When the stage began, where the record was written again later. */
  readonly sinceMs?: number;
}

const CONTENT = 'content';
const RECORD = 'sandbox.json';

/** Checks the folders of a stage and reads its record. `parent` is the folder in which all stages lie. */
export function openStageFiles(stage: StageFolder, workspace: string, parent: string): Result<StageFiles> {
  const folders = [stage.folder, ...(stage.below ?? [])];
  const wrong = folders.find((folder) => !isStageFolder(folder, parent));
  if (wrong !== undefined) {
    return fail(
      'INVALID_INPUT',
      `${wrong} is no place for pending changes: make a private folder directly in ${parent}.`,
    );
  }
  if (new Set(folders).size < folders.length) {
    return fail('INVALID_INPUT', 'Pending changes cannot stand on themselves: name each folder once.');
  }
  const record = readRecord(stage.folder);
  const belows = (stage.below ?? []).map((folder) => ({ folder, record: readRecord(folder) }));
  const foreign = [record, ...belows.map((each) => each.record)].find(
    (each) => each !== null && each.workspace !== workspace,
  );
  if (foreign !== undefined && foreign !== null) {
    return fail(
      'INVALID_INPUT',
      `These pending changes belong to ${foreign.workspace}: use them with that workspace only.`,
    );
  }
  return ok({
    folder: stage.folder,
    content: contentOf(stage.folder),
    // One without a record has no changes.
    below: belows.filter((each) => each.record !== null).map(({ folder }) => contentOf(folder)),
    followsHost: stage.followsHost ?? false,
    record,
  });
}

/** The folder with what a stage holds, by relative paths. */
export function contentOf(folder: string): string {
  return join(folder, CONTENT);
}

/** When the stage began: the time of its record, by the same clock as those of files. */
export function beganAtMs({ folder }: StageFiles): number {
  return statSync(join(folder, RECORD)).ctimeMs;
}

/** Begins a stage whose layer is empty. */
export function beginOverlay({ folder, content }: StageFiles, workspace: string): void {
  mkdirSync(content, { recursive: true });
  const { mode, uid, gid } = statSync(workspace);
  chmodSync(content, mode & 0o7777);
  if (process.getuid?.() === 0) chownSync(content, uid, gid);
  writeRecord(folder, { kind: 'overlay', workspace });
}

export function writeRecord(folder: string, record: StageRecord): void {
  writeFileSync(join(folder, RECORD), JSON.stringify(record), { mode: 0o600 });
}

/** A new folder for each mount: the kernel refuses one that was used with `volatile`. */
export function makeWorkFolder({ folder }: StageFiles): string {
  const work = join(folder, uniqueName('work'));
  mkdirSync(work, { mode: 0o700 });
  return work;
}

function isStageFolder(folder: string, parent: string): boolean {
  if (!isAbsolute(folder) || statOf(folder)?.isDirectory() !== true) return false;
  return dirname(realpathSync(folder)) === parent && realpathSync(folder) === folder;
}

/** The record of a stage; null before its first run. */
export function readRecord(folder: string): StageRecord | null {
  const file = join(folder, RECORD);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StageRecord) : null;
}
