import { rmdirSync } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';

/** Removes folders that were made for a change that failed. A folder that is not empty stays. */
export function removeCreatedFolders(root: WorkspaceRoot, made: readonly string[]): void {
  for (const path of [...made].reverse()) {
    const located = root.locate(path, { last: 'keep' });
    if (!located.ok) continue;
    try {
      rmdirSync(located.value.folder.at(located.value.name));
    } catch (thrown) {
      if (errnoOf(thrown) === undefined) throw thrown;
    } finally {
      located.value.folder.close();
    }
  }
}
