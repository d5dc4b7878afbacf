import { createAnswers } from '../approval/answers.ts';
import type { Answers, ReviewedEdit } from '../kernel/call/approval-answers.ts';
import type { ApprovalRecord } from '../kernel/approval.ts';
import { ExecutionContext } from '../kernel/call/execution-context.ts';
import type { Ledger } from '../kernel/call/ledger.ts';
import type { MaybePromise } from '../kernel/result.ts';
import { fail, type Result } from '../kernel/result.ts';
import type { App } from './open-app.ts';
import { proposeFor } from './approvals/propose-rule.ts';
import { workspaceId } from './workspace-id.ts';

export interface AnswersParts {
  /** The app that a session's calls run in; undefined when it is not open here. */
  readonly appOf: (session: string) => Promise<App | undefined>;
  readonly ruleSaved: () => MaybePromise<void>;
}

/** Answers to questions of any process, judged as the workspace of each question judges. */
export function openAnswers(ledger: Ledger, { appOf, ruleSaved }: AnswersParts): Answers {
  return createAnswers({
    ledger,
    review: async (approval, args) => review(await appOf(approval.session), approval, args),
    propose: async (approval, written) => proposeFor(await appOf(approval.session), approval, written),
    ruleSaved,
  });
}

/** For a program that has one workspace open. A session that names none is taken to be of this one. */
export function answersIn(app: App): Answers {
  const own = workspaceId(app.workspace.root);
  return openAnswers(app.store, {
    appOf: async (session) => (((await app.store.session(session))?.workspace ?? own) === own ? app : undefined),
    ruleSaved: () => app.rules.reload(),
  });
}

/** Edited arguments are judged as a call of the same session in the same workspace would be. */
async function review(
  app: App | undefined,
  { tool, session, callId }: ApprovalRecord,
  args: Record<string, unknown>,
): Promise<Result<ReviewedEdit>> {
  if (app === undefined) {
    return fail(
      'NOT_CONFIGURED',
      `The workspace of call ${callId} is not open here: answer where it is, or without edits.`,
    );
  }
  return app.executor.review(tool, new ExecutionContext({ ...app.context, sessionId: session }), args);
}
