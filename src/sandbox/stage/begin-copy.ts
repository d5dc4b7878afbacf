import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../../host/errno.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { messageOf } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { isWalked } from '../../kernel/world/file-policy.ts';
import { TOP, type WalkedPath } from './change-list.ts';
import { createTreeCopy, type TreeCopy } from './copy-tree.ts';
import type { HiddenPaths } from './hidden-paths.ts';
import { createMirror, type Mirror } from './mirror.ts';
import { openFolder } from './open-folder.ts';
import { beganAtMs, type StageFiles, type StageRecord, writeRecord } from './stage-folder.ts';

export interface CopyPlan {
  readonly stage: StageFiles;
  readonly workspace: string;
  readonly hidden: HiddenPaths;
}

/** Begins a stage that is a copy of the workspace, or of the stage below it. */
export async function beginCopy({ stage, workspace, hidden }: CopyPlan): Promise<Result<void>> {
  const [below] = stage.below;
  // A run of the stage below may have made files that look like secrets: they are its own.
  const isHidden = below === undefined ? hidden.isHidden : () => false;
  for (let tries = 1; ; tries++) {
    const copy = createTreeCopy({ isHidden, isOverlaid: () => false });
    const failed = await copyOnce(copy, below ?? workspace, stage.content);
    const fresh = failed === null && below === undefined ? await hidden.refresh() : [];
    if (failed === null && fresh?.length === 0) {
      await nextTick();
      writeRecord(stage.folder, { kind: 'copy', workspace, copied: recordOf(copy) });
      return ok(undefined);
    }
    removeTree(stage.content);
    if (failed !== null) return failed === 'too-large' ? tooLarge(workspace) : failed;
    // The host made a secret while it was copied.
    if (fresh === null || tries === MAX_TRIES) return unreadable(workspace);
  }
}

const MAX_TRIES = 5;

async function copyOnce(copy: TreeCopy, source: string, content: string): Promise<'too-large' | Result<never> | null> {
  mkdirSync(content, { recursive: true });
  using from = openFolder(source, 'theirs');
  using to = openFolder(content, 'ours');
  return await whyNot(() => copy.copyFolder(from, to, TOP));
}

/**
 * Begins a stage that is a mirror of the workspace. With `canMountOverlays`, large folders that are never searched for hidden names
 * are not copied: the record lists them, and whoever shows the copy mounts an overlay over each.
 */
export async function beginMirror(plan: CopyPlan & { readonly canMountOverlays: boolean }): Promise<Result<Mirror>> {
  const { stage, workspace, hidden, canMountOverlays } = plan;
  const overlaid = new Set<string>();
  let isFilled = false;
  /** Decides about each folder once, while the copy is filled. */
  function isOverlaid({ text, bytes, isExact }: WalkedPath): boolean {
    if (isFilled || !canMountOverlays || !isExact || !LARGE.test(text) || isWalked(text)) return overlaid.has(bytes);
    if (overlaid.size < MAX_OVERLAID) overlaid.add(bytes);
    return overlaid.has(bytes);
  }
  const mirror = createMirror({ workspace, folder: stage.folder, content: stage.content, hidden, isOverlaid });
  const failed = await fillMirror();
  if (failed === null) return ok(mirror);
  mirror[Symbol.dispose]();
  removeTree(stage.content);
  return failed;

  async function fillMirror(): Promise<Result<never> | null> {
    const refused = await whyNot(() => mirror.fill());
    if (refused !== null)
      return refused === 'too-large'
        ? tooLargeToFollow(workspace, { largest: mirror.copy.largestTop(), canMountOverlays })
        : refused;
    isFilled = true;
    await nextTick();
    // Written twice: the time of the first one is the beginning of the stage.
    writeRecord(stage.folder, { kind: 'copy', workspace, overlaid: [...overlaid] });
    const sinceMs = beganAtMs(stage);
    saveMirror(stage, mirror, { kind: 'copy', workspace, overlaid: [...overlaid], sinceMs });
    return (await mirror.begin(sinceMs)) ? null : unreadable(workspace);
  }
}

/** Writes down what the mirror has put into the copy until now, so that it is no change of the run. */
export function saveMirror({ folder }: StageFiles, { copy, placed }: Mirror, record: StageRecord): void {
  writeRecord(folder, { ...record, copied: recordOf(copy), placed: [...placed] });
}

async function whyNot(copying: () => Promise<boolean>): Promise<'too-large' | Result<never> | null> {
  try {
    return (await copying()) ? null : 'too-large';
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    const repair = 'Check that the disk of the state folder has room.';
    return fail('SANDBOX_UNAVAILABLE', `The workspace could not be copied: ${messageOf(error)}. ${repair}`);
  }
}

function recordOf({ names }: TreeCopy): NonNullable<StageRecord['copied']> {
  return [...names].map(([folder, each]) => [folder, [...each]]);
}

/** A record must be later than every file of the copy, by a clock that may tick a hundred times a second. */
function nextTick(): Promise<void> {
  return sleep(11);
}

/** Git's references and logs are not searched either, but they are small, so that they are copied and followed. */
const LARGE = /(?:^|\/)(?:node_modules|\.git\/(?:objects|lfs))$/;
const MAX_OVERLAID = 16;

function tooLarge(workspace: string): Result<never> {
  const repair =
    'Take mounts out of the workspace, move it to a disk such as ext4, or allow overlays: a kernel from 5.11 on and user namespaces for bwrap.';
  return fail(
    'SANDBOX_UNAVAILABLE',
    `No overlay can lie over ${workspace}, and it has more than 20,000 files or 500 MB, too much to be copied for each command. ${repair}`,
    { repair },
  );
}

function tooLargeToFollow(
  workspace: string,
  { largest, canMountOverlays }: { largest: string | null; canMountOverlays: boolean },
): Result<never> {
  const uncounted = canMountOverlays ? ", packages and git's objects not counted" : '';
  const most = largest === null ? '' : ` Most of it is in ${largest}.`;
  return fail(
    'TOO_LARGE',
    `A process in the background works in a copy that follows your edits, and ${workspace} has more than 20,000 files or 500 MB${uncounted}.${most} Run the command in the foreground, or move what it does not need out of the workspace.`,
  );
}

function unreadable(workspace: string): Result<never> {
  const repair = 'Try again when what changes folders there has ended, and check that it can be read.';
  return fail('SANDBOX_UNAVAILABLE', `${workspace} could not be searched for files to hide. ${repair}`);
}
