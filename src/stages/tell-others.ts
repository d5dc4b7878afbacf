import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readStageFile, type StageFile, writeStageFile } from './stage-file.ts';

const MAX_PATHS = 100;

export interface KeptStage {
  readonly kept: StageFile;
  /** Those of its paths that were kept. */
  readonly paths: readonly string[];
}

/** Notes in other pending changes of the same workspace which of their paths these changes, kept before them, have changed too. */
export function tellOthers(stages: string, { kept, paths }: KeptStage): void {
  const changed = new Set(paths);
  for (const id of readdirSync(stages)) {
    const folder = join(stages, id);
    const file = id === kept.id ? null : readStageFile(folder);
    if (file === null || file.workspace !== kept.workspace || file.standsOn !== kept.standsOn) continue;
    const common = file.changes.flatMap(({ path }) => (changed.has(path) ? [path] : []));
    if (common.length === 0) continue;
    writeStageFile(folder, { ...file, overtakenBy: { title: kept.title, paths: common.slice(0, MAX_PATHS) } });
  }
}
