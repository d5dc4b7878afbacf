import { join } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { messageOf } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { StagedChanges } from '../../kernel/world/stage.ts';
import { compareTrees, type OverlaidFolder } from './compare-trees.ts';
import { type OpenFolder, openFolder } from './open-folder.ts';
import { beganAtMs, readRecord, type StageFiles } from './stage-folder.ts';

export interface OpenedView {
  /** The stage as its run sees it. */
  readonly merged: OpenFolder;
  /** The view that it stands on; null when that is the workspace itself. */
  readonly base: OpenFolder | null;
  /** Folders of a copy over which overlays of their own lie, by their paths. */
  readonly overlaid: ReadonlyMap<string, OpenFolder>;
}

/** Lists the changes of a stage that has begun. TOO_LARGE for more than `maxChanges`. */
export async function listChanges(given: {
  stage: StageFiles;
  workspace: string;
  /** Its folders belong to the caller. Null for a whole copy. */
  opened: OpenedView | null;
  /** Paths of the workspace over which masks lie. */
  masked: readonly string[];
  maxChanges: number;
}): Promise<Result<StagedChanges>> {
  const { stage, workspace, opened, maxChanges } = given;
  const record = readRecord(stage.folder);
  // Without its view, the layer of an overlay would look like a copy from which almost all was deleted.
  const isView = record?.kind === 'overlay' || (record?.overlaid?.length ?? 0) > 0;
  if (record === null || isView !== (opened !== null)) {
    return fail(
      'SANDBOX_UNAVAILABLE',
      'The private view of the workspace was not there, so what changed in it is not known. Try again.',
    );
  }
  const own: OpenFolder[] = [];
  const open = (path: string, owner: 'ours' | 'theirs'): OpenFolder => {
    const folder = openFolder(path, owner);
    own.push(folder);
    return folder;
  };
  try {
    // In a view below, hidden files are masked already.
    const onView = opened !== null && opened.base !== null;
    const isCopy = record.kind === 'copy';
    const overlaidFolders = (record.overlaid ?? []).map((bytes): [string, OverlaidFolder] => {
      const path = Buffer.from(bytes, 'latin1').toString();
      const merged = opened?.overlaid.get(path);
      if (merged === undefined) throw new Error(`no overlay lies over ${path}`);
      return [bytes, { merged, upper: open(join(stage.content, path), 'ours') }];
    });
    const changes = await compareTrees({
      sinceMs: record.sinceMs ?? beganAtMs(stage),
      maxChanges,
      merged: opened?.merged ?? open(stage.content, 'ours'),
      base: opened?.base ?? open(isCopy ? (stage.below[0] ?? workspace) : workspace, 'theirs'),
      upper: isCopy ? null : open(stage.content, 'ours'),
      masked: new Set(onView ? [] : given.masked),
      hidden: new Set(given.masked),
      copied: new Map(record.copied?.map(([folder, names]) => [folder, new Set(names)])),
      placed: new Map(record.placed),
      overlaid: new Map(overlaidFolders),
    });
    if (changes !== null) return ok({ changes, content: stage.content });
    return fail(
      'TOO_LARGE',
      `The command changed more than ${maxChanges} paths, so none of it can be kept. Let it change less at a time.`,
    );
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    const repair = 'Try again when fewer files are open, and check that the disk can be read.';
    return fail('SANDBOX_UNAVAILABLE', `The changes could not be listed: ${messageOf(error)}. ${repair}`);
  } finally {
    for (const folder of own) folder.close();
  }
}
