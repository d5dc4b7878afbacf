import { addsNoRisk, isHarmlessGitConfig } from '../git/harmless-config.ts';
import type { StagedChange } from '../kernel/world/stage.ts';
import type { StagedView } from './staged-view.ts';

const CONFIG = /(?:^|\/)\.git\/(?:modules\/.+\/)?config$/;
const HOOKS_FOLDER = /(?:^|\/)\.git\/(?:modules\/.+\/)?hooks$/;
const SAMPLE_HOOK = /(?:^|\/)\.git\/(?:modules\/.+\/)?hooks\/[^/]+\.sample$/;

/**
 * Whether a change of a file that git obeys makes git run nothing: a configuration of settings that only describe the
 * repository, the folder of hooks that `git init` makes, and its samples, which git does not run.
 */
export function isHarmlessInRepository(change: StagedChange, view: StagedView, workspace: string): boolean {
  const { path, kind, before, after } = change;
  if (kind === 'deleted') return false;
  if (HOOKS_FOLDER.test(path)) return kind === 'created' && after?.type === 'directory';
  if (SAMPLE_HOOK.test(path)) return after?.type === 'file';
  if (!CONFIG.test(path) || after?.type !== 'file') return false;
  const text = view.readWhole(`${workspace}/${path}`);
  const isInside = (): boolean => false;
  if (before === null) return isHarmlessGitConfig(text, isInside);
  const earlier = view.readBefore(path);
  return before.type === 'file' && earlier !== null && text !== null && addsNoRisk(earlier, text, isInside);
}
