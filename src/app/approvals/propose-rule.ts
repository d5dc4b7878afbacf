import type { RuleProposal } from '../../kernel/call/approval-answers.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { App } from '../open-app.ts';
import { workspaceId } from '../workspace-id.ts';

/** The call that a rule is proposed for. */
export interface RuleSubject {
  readonly tool: string;
  readonly args: unknown;
  readonly session: string;
}

/** Returns the narrowest rules that cover a call under the present rules, or checks the ones a person wrote. */
export async function proposeRules(
  app: App | undefined,
  { tool, args, session }: RuleSubject,
  written?: readonly string[],
): Promise<Result<RuleProposal>> {
  if (app === undefined) {
    return fail(
      'NOT_CONFIGURED',
      'The workspace of this call is not open here: answer where it is, or without "always".',
    );
  }
  const context = new ExecutionContext({ ...app.context, sessionId: session });
  const reviewed = await app.executor.review(tool, context, args);
  if (!reviewed.ok) return reviewed;
  const proposed = app.rules.propose(reviewed.value.subject, written);
  return proposed.ok ? ok({ ...proposed.value, workspace: workspaceId(app.workspace.root) }) : proposed;
}
