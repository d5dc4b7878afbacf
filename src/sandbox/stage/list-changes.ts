import { errnoOf } from '../../host/errno.ts';
import { messageOf } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { StagedChanges } from '../../kernel/world/stage.ts';
import { compareTrees } from './compare-trees.ts';
import { type OpenFolder, openFolder } from './open-folder.ts';
import { beganAtMs, type OpenStage, readRecord } from './stage-folder.ts';

/** Lists the changes of a stage that has begun. TOO_LARGE for more than `maxChanges`. */
export async function listChanges(given: {
  stage: OpenStage;
  workspace: string;
  /** The view of an overlay, and the one it stands on; both belong to the caller. Null for a copy. */
  opened: { readonly merged: OpenFolder; readonly base: OpenFolder | null } | null;
  /** Paths that are masked in it. */
  hidden: readonly string[];
  maxChanges: number;
}): Promise<Result<StagedChanges>> {
  const { stage, workspace, opened, maxChanges } = given;
  const record = readRecord(stage.folder);
  // Without its view, the layer of an overlay would look like a copy from which almost all was deleted.
  if (record === null || (record.kind === 'copy') !== (opened === null)) {
    return fail(
      'SANDBOX_UNAVAILABLE',
      'The view of the stage was not there, so its changes are not known. Compare it again.',
    );
  }
  const own: OpenFolder[] = [];
  const open = (path: string, owner: 'ours' | 'theirs'): OpenFolder => {
    const folder = openFolder(path, owner);
    own.push(folder);
    return folder;
  };
  try {
    const common = { sinceMs: beganAtMs(stage), maxChanges };
    const onView = opened !== null && opened.base !== null;
    const changes = await compareTrees({
      ...common,
      merged: opened?.merged ?? open(stage.content, 'ours'),
      base: opened?.base ?? open(opened === null ? (stage.below[0] ?? workspace) : workspace, 'theirs'),
      upper: opened === null ? null : open(stage.content, 'ours'),
      // In a view below, hidden files are masked already.
      masked: new Set(onView ? [] : given.hidden),
      ...(opened === null && {
        copied: new Map(record.copied?.map(([folder, names]) => [folder, new Set(names)])),
      }),
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
