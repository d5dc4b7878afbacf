import { basename, join } from 'node:path';
import { digestTree } from '../host/digest-tree.ts';
import { parentOf } from '../kernel/text/folders-above.ts';
import type { FilePolicy } from '../kernel/world/file-policy.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import type { ClassifiedChange, StagedChanges, StageOwner } from '../kernel/world/stage.ts';
import { classifyChanges } from './classify-changes.ts';
import { askGit } from './git-facts.ts';
import { repositoryLines } from './repository-lines.ts';
import { repositoryLosses } from './repository-losses.ts';
import { layersOf } from './session-stage.ts';
import { digestOfChanges, type StageFile } from './stage-file.ts';
import { StagedView } from './staged-view.ts';

/** The parts of the runtime that classify the changes of a stage. */
export interface StageJudges {
  readonly sandbox: Sandbox;
  readonly policy: FilePolicy;
  readonly home: string;
}

export interface ListedStage {
  /** The folder of the stage; its name is the id. */
  readonly folder: string;
  readonly owner: StageOwner;
  readonly staged: StagedChanges;
  readonly isPartial: boolean;
}

/**
 * Returns the file of a stage: its changes with the class of each. A new file of a complete run is kept whether git
 * ignores it or not, so git is not asked about it.
 */
export async function describeStage(
  { sandbox, policy, home }: StageJudges,
  { folder, owner, staged, isPartial }: ListedStage,
): Promise<StageFile> {
  const { workspace, session, callId, title, allowedBy, wrote, standsOn } = owner;
  const asked = isPartial ? staged.changes : staged.changes.filter(({ kind }) => kind !== 'created');
  const git = await askGit(
    workspace,
    sandbox,
    asked.map(({ path }) => path),
  );
  const view = new StagedView(workspace, staged);
  const layers = { folder, ...(standsOn && { below: layersOf(standsOn) }) };
  const lost = await repositoryLosses({ workspace, changes: staged.changes, view }, sandbox, layers);
  const classified = await classifyChanges(staged, { workspace, policy, home, git, lost, wrote });
  const changes = await withDigests(classified, staged.content);
  const repository = await repositoryLines({ workspace, changes, view }, sandbox, layers);
  return {
    ...{ format: 1, id: basename(folder), workspace, session, callId, title, allowedBy, isPartial },
    ...{ createdAt: Date.now(), content: staged.content, repository, changes, digest: digestOfChanges(changes) },
    standsOn: standsOn?.session ?? null,
  };
}

/** Adds to each outermost new folder the digest of all in it: it may be kept as a whole, so it is bound as a whole. */
async function withDigests(changes: readonly ClassifiedChange[], content: string): Promise<ClassifiedChange[]> {
  const folders = new Set(changes.flatMap((change) => (isNewFolder(change) ? [change.path] : [])));
  return Promise.all(
    changes.map(async (change) => {
      const isTop = isNewFolder(change) && !folders.has(parentOf(change.path));
      if (!isTop || change.after === null) return change;
      const { digest } = await digestTree(join(content, change.path));
      return { ...change, after: { ...change.after, version: digest } };
    }),
  );
}

function isNewFolder({ kind, after }: ClassifiedChange): boolean {
  return kind === 'created' && after?.type === 'directory';
}
