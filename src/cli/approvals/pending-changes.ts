import { openPendingChanges } from '../../app/admin/pending-changes.ts';
import { answersIn } from '../../app/approvals/open-answers.ts';
import type { App } from '../../app/open-app.ts';
import type { Approver } from '../../kernel/ports.ts';
import { type Cli, failWith } from '../cli.ts';

type PendingChanges = ReturnType<typeof openPendingChanges>;
type PendingChange = Awaited<ReturnType<PendingChanges['list']>>[number];

/** Pending changes of the workspace, decided about at this terminal. */
export function pendingIn(app: App): PendingChanges {
  return openPendingChanges(app, answersIn(app));
}

/** Prints a sentence where there are no such changes. */
export async function findPending(cli: Cli, app: App, id: string): Promise<PendingChange | undefined> {
  const found = (await pendingIn(app).list()).find(({ stage }) => stage.id === id);
  if (found === undefined) failWith(cli, { code: 'FILE_NOT_FOUND', message: cli.words.noChanges(id) });
  return found;
}

/** Says yes for a person who has just typed `toolwright keep`: the process makes no other call. */
export const decidedHere: Approver = { ask: () => ({ approved: true, by: 'terminal' }) };
