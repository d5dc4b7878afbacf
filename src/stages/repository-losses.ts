import { join } from 'node:path';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import type { StagedChange, StageFolder } from '../kernel/world/stage.ts';
import { type GitIds, objectsAt, packedTipsAt, stashesAt, tipsAt } from './git-objects.ts';
import { areReachable, askAfter } from './git-reachability.ts';
import type { StagedView } from './staged-view.ts';

/** The data of a repository or of a submodule, and a path in it that leads to commits or holds objects. */
const IN_DATA = /^((?:.*\/)?\.git(?:\/modules\/.+?)?)\/((?:objects|refs|logs)(?:\/.*)?|packed-refs|HEAD)$/;
/** A loose object or a pack: git never writes to one again. */
const OBJECT = /^objects\/(?:[0-9a-f]{2}\/[0-9a-f]+|pack\/pack-[0-9a-f]+\.pack)$/;

/**
 * The changes by which a repository loses what nothing else has: commits that neither a ref nor a reflog leads to afterwards,
 * and objects that are needed and in no other place. A pack or a collection by git itself is no loss. Where git cannot tell,
 * it is one.
 */
export async function repositoryLosses(
  { workspace, changes, view }: { workspace: string; changes: readonly StagedChange[]; view: StagedView },
  sandbox: Sandbox,
  stage: StageFolder,
): Promise<ReadonlySet<string>> {
  const lost = new Set<string>();
  for (const [data, paths] of idsByRepository(workspace, changes)) {
    for (const { path, tips, stashes, objects } of paths) {
      if (tips === null || stashes === null || objects === null) lost.add(path);
    }
    const place = { workspace, data, sandbox };
    // A tip that is in the log of HEAD is still led to, as after each commit: git need not be asked about it.
    const log = view.read(join(workspace, data, 'logs/HEAD'));
    const ids = {
      tips: new Set(paths.flatMap(({ tips }) => tips ?? []).filter((id) => !log.includes(id))),
      stashes: new Set(paths.flatMap(({ stashes }) => stashes ?? [])),
      objects: new Set(paths.flatMap(({ objects }) => objects ?? [])),
    };
    if (ids.tips.size + ids.stashes.size + ids.objects.size === 0) continue;
    const after = await askAfter(place, stage, ids);
    const isNeeded = after !== null && (await areReachable(place, after.missing));
    const isGone = (id: string): boolean => after === null || (isNeeded && after.missing.has(id));
    for (const { path, tips, stashes, objects } of paths) {
      const hadCommits = (tips?.length ?? 0) + (stashes?.length ?? 0) > 0;
      const losesCommits = hadCommits && (after === null || after.losesCommits);
      if (losesCommits || objects?.some(isGone)) lost.add(path);
    }
  }
  return lost;
}

/** The ids that a path led to or held before its change. */
interface PathIds {
  /** Relative to the workspace. */
  readonly path: string;
  readonly tips: GitIds;
  readonly stashes: GitIds;
  readonly objects: GitIds;
}

function idsByRepository(workspace: string, changes: readonly StagedChange[]): Map<string, PathIds[]> {
  const byRepository = new Map<string, PathIds[]>();
  for (const change of changes) {
    const [, data, path] = IN_DATA.exec(change.path) ?? [];
    if (data === undefined || path === undefined || change.kind === 'mode') continue;
    const ids = idsBefore(change, join(workspace, data), path);
    if ([ids.tips, ids.stashes, ids.objects].every((each) => each?.length === 0)) continue;
    const own = byRepository.get(data) ?? [];
    own.push(ids);
    byRepository.set(data, own);
  }
  return byRepository;
}

function idsBefore({ path, kind, before }: StagedChange, data: string, inData: string): PathIds {
  if (before === null) return { path, tips: packedTipsAt(data, inData), stashes: [], objects: [] };
  const isRewritten = kind !== 'deleted' && OBJECT.test(inData);
  const objects = isRewritten ? null : objectsAt(data, inData);
  return { path, tips: tipsAt(data, inData), stashes: stashesAt(data, inData), objects };
}
