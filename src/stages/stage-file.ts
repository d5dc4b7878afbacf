import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { errnoOf } from '../host/errno.ts';
import { statOf } from '../host/files.ts';
import { removeTree } from '../host/remove-tree.ts';
import { failpoint } from '../kernel/failpoint.ts';
import { CHANGE_CLASSES, type ClassifiedChange } from '../kernel/world/stage.ts';

/** A finished stage as its folder keeps it. */
export type StageFile = z.output<typeof stageFile>;

const NAME = 'stage.json';

const pathVersion = z.object({
  type: z.enum(['file', 'directory', 'symlink', 'other']),
  mode: z.number(),
  size: z.number(),
  version: z.string().nullable(),
});

const change = z.object({
  path: z.string(),
  kind: z.enum(['created', 'modified', 'deleted', 'mode']),
  before: pathVersion.nullable(),
  after: pathVersion.nullable(),
  entries: z.number().optional(),
  bytes: z.number().optional(),
  overtaken: z.literal(true).optional(),
  unnameable: z.literal(true).optional(),
  class: z.enum(CHANGE_CLASSES),
  reason: z.string().optional(),
  loses: z.literal(true).optional(),
});

const stageFile = z.object({
  format: z.literal(1),
  id: z.string(),
  workspace: z.string(),
  session: z.string(),
  callId: z.string(),
  title: z.string(),
  createdAt: z.number(),
  isPartial: z.boolean(),
  allowedBy: z.string().nullable(),
  /** The folder with the new content. */
  content: z.string(),
  /** Lines about git, for a person: "main: 1 commit". */
  repository: z.array(z.string()),
  changes: z.array(change),
  digest: z.string(),
  isOfSession: z.literal(true).optional(),
  standsOn: z.string().nullable().default(null),
  overtakenBy: z.object({ title: z.string(), paths: z.array(z.string()) }).optional(),
});

/** Reads the file of a finished stage. Null while its run goes on, where that was cut off, and while it is being removed. */
export function readStageFile(folder: string): StageFile | null {
  if (isRemovedStage(folder)) return null;
  try {
    const parsed = stageFile.safeParse(JSON.parse(readFileSync(join(folder, NAME), 'utf8')));
    return parsed.success && parsed.data.digest === digestOfChanges(parsed.data.changes) ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Another one when any process has written the file anew. Null when it is not there. */
export function versionOfStageFile(folder: string): string | null {
  const stat = statOf(join(folder, NAME));
  return stat === undefined ? null : `${stat.ino}:${stat.mtimeMs}`;
}

/** Marks the name of a folder that is being removed; it is no stage any more. */
const REMOVED = '.removed';

/** Removes a stage. It is renamed first, so that its name tells whatever a kill leaves of it. */
export function removeStage(folder: string): void {
  const aside = `${folder}${REMOVED}`;
  try {
    renameSync(folder, aside);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw error;
  }
  failpoint('stage.removing');
  removeTree(aside);
}

export function isRemovedStage(folder: string): boolean {
  return folder.endsWith(REMOVED);
}

/** Writes the file and syncs it: a question about these changes may be answered after a restart. */
export function writeStageFile(folder: string, file: StageFile): void {
  const temporary = join(folder, `${NAME}.new`);
  writeFileSync(temporary, JSON.stringify(file), { mode: 0o600 });
  const fd = openSync(temporary, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, join(folder, NAME));
}

/** Returns the digest of changes: the same for the same paths with the same content on both sides, whatever happened on the host meanwhile. */
export function digestOfChanges(changes: readonly ClassifiedChange[] | StageFile['changes']): string {
  const hash = createHash('sha256');
  for (const { path, kind, class: of, before, after } of changes) {
    hash.update(JSON.stringify([path, kind, of, toLine(before), toLine(after)]));
  }
  return hash.digest('hex').slice(0, 32);
}

function toLine(version: ClassifiedChange['before']): unknown {
  return version && [version.type, version.mode, version.size, version.version];
}
