import { fail, type Result } from '../../kernel/result.ts';
import type { App } from '../open-app.ts';
import { undoCall } from './undo-call.ts';

/** Calls that are looked at, newest first. */
const MAX_CALLS = 200;

/** Undoes the latest call of the workspace whose file changes can be undone, of one session if it is given. */
export async function undoLatest(
  app: App,
  by: string,
  session?: string,
): Promise<Result<{ readonly restored: readonly string[] }>> {
  const { items } = await app.store.history({
    ...(session !== undefined && { session }),
    newestFirst: true,
    states: ['succeeded'],
    limit: MAX_CALLS,
  });
  for (const { id } of items) {
    if (!app.workspace.canUndo(id)) continue;
    const undone = await undoCall(app, id, by);
    if (undone.ok || undone.error.code !== 'FILE_NOT_FOUND') return undone;
  }
  return fail('FILE_NOT_FOUND', 'Nothing to undo: no call here changed files, or all were undone.');
}
