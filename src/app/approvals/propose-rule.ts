import type { RuleProposal } from '../../kernel/call/approval-answers.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { App } from '../open-app.ts';
import { workspaceId } from '../workspace-id.ts';

/** What a rule is proposed for. */
export interface Proposable {
  readonly tool: string;
  readonly args: unknown;
  readonly session: string;
}

/** The narrowest rules that cover a call, as it would be judged now, or a check of those a person wrote; or why there are none. */
export async function proposeFor(
  app: App | undefined,
  { tool, args, session }: Proposable,
  written?: readonly string[],
): Promise<Result<RuleProposal>> {
  if (app === undefined) {
    return fail(
      'NOT_CONFIGURED',
      'The workspace of this call is not open here: answer where it is, or without «always».',
    );
  }
  const context = new ExecutionContext({ ...app.context, sessionId: session });
  const reviewed = await app.executor.review(tool, context, args);
  if (!reviewed.ok) return reviewed;
  const proposed = app.rules.propose(reviewed.value.subject, written);
  return proposed.ok ? ok({ ...proposed.value, workspace: workspaceId(app.workspace.root) }) : proposed;
}
