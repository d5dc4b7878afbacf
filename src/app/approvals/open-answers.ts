import { createAnswers } from '../../approval/answers.ts';
import type { ApprovalRecord } from '../../kernel/call/approval.ts';
import type { ApprovalAnswers, ReviewedEdit } from '../../kernel/call/approval-answers.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';
import type { MaybePromise } from '../../kernel/result.ts';
import { fail, type Result } from '../../kernel/result.ts';
import type { App } from '../open-app.ts';
import { workspaceId } from '../workspace-id.ts';
import { proposeRules } from './propose-rule.ts';

export interface OpenAnswersOptions {
  /** Returns the app of a session; undefined when its workspace is not open here. */
  readonly appOf: (session: string) => Promise<App | undefined>;
  readonly ruleSaved: () => MaybePromise<void>;
}

/** Takes answers to questions of any process, each judged by the rules of its workspace. */
export function openAnswers(ledger: Ledger, { appOf, ruleSaved }: OpenAnswersOptions): ApprovalAnswers {
  return createAnswers({
    ledger,
    review: async (approval, args) => review(await appOf(approval.session), approval, args),
    propose: async (approval, written) => proposeRules(await appOf(approval.session), approval, written),
    ruleSaved,
  });
}

/** For a program with one open workspace. A session without a workspace counts as part of it. */
export function answersIn(app: App): ApprovalAnswers {
  const own = workspaceId(app.workspace.root);
  return openAnswers(app.store, {
    appOf: async (session) => (((await app.store.session(session))?.workspace ?? own) === own ? app : undefined),
    ruleSaved: () => app.rules.reload(),
  });
}

/** Judges edited arguments like a call of the same session in the same workspace. */
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
