import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../host/remove-tree.ts';
import type { Result } from '../../kernel/result.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { RunRequest } from '../../kernel/world/sandbox.ts';
import { openStageFiles } from '../stage/stage-folder.ts';
import type { UntriedSandbox } from './bubblewrap-setup.ts';
import { type ChosenStages, chooseStages } from './choose-stages.ts';
import { explainFailure } from './detect.ts';
import { ownRequestIn, type RunSteps } from './run-steps.ts';
import { readView, stagedView } from './workspace-view.ts';

/** Runs small commands, so that a missing requirement is known before the first real one. */
export async function tryOut(steps: RunSteps, untried: UntriedSandbox): Promise<Result<ChosenStages>> {
  const chosen = await chooseStages(steps.options, (candidate) => tryOverlay(steps, untried, candidate));
  if (!chosen.ok || chosen.value.kind === 'overlay') return chosen;
  const workspace = untried.folder.path;
  const view = readView({ folder: untried.folder, workspace, hidden: [], program: null });
  if (!view.ok) return view;
  const request: RunRequest = { command: ['/bin/sh', '-c', ':'], workspace, mounts: 'read', tag: 'status' };
  const ran = await steps.start(untried, request, {
    checked: ownRequestIn(workspace),
    view: view.value,
  });
  if (!ran.ok) return ran;
  ran.value.supervised.output.log.dispose();
  if (ran.value.exitCode === 0) return chosen;
  return explainFailure(Buffer.from(ran.value.supervised.output.stderr.head).toString());
}

/** Whether a write really lands in a layer, a folder can be replaced, and a mask really hides. */
async function tryOverlay(
  steps: RunSteps,
  untried: UntriedSandbox,
  { folder, program }: ChosenStages,
): Promise<boolean> {
  if (program === null) return false;
  const workspace = mkdtempSync(join(untried.folder.path, 'try-'));
  const stageFolder = mkdtempSync(join(folder, 'try-'));
  try {
    writeFileSync(join(workspace, 'hidden'), 'x\n');
    mkdirSync(join(workspace, 'folder'));
    const stage = openStageFiles({ folder: stageFolder }, workspace, folder);
    if (!stage.ok) return false;
    const hidden: ProtectedPath[] = [{ path: 'hidden', kind: 'file', access: 'hidden', rule: null }];
    using view = stagedView({ folder: untried.folder, workspace, hidden, program }, stage.value);
    const command = ['/bin/sh', '-c', '! read line <hidden && rmdir folder && mkdir folder && echo x >written'];
    const request: RunRequest = { command, workspace, mounts: 'staged', tag: 'status' };
    const ran = await steps.start(untried, request, { checked: ownRequestIn(workspace), view });
    if (ran.ok) ran.value.supervised.output.log.dispose();
    const isWritten = existsSync(join(stage.value.content, 'written')) && !existsSync(join(workspace, 'written'));
    return ran.ok && ran.value.exitCode === 0 && isWritten;
  } finally {
    removeTree(stageFolder);
    removeTree(workspace);
  }
}
