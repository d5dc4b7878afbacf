import type { PresentedCall } from '../../kernel/call/approval.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import { NO_FLOW, type SessionFlow } from '../../kernel/call/session-flow.ts';
import { ok, type Result } from '../../kernel/result.ts';
import type { Explanation } from '../../policy/create-policy.ts';
import type { App } from '../open-app.ts';

/** The explanation of a verdict with the presentation that a person would see: summary, command, diff or page. */
export interface ExplainedCall extends Explanation {
  readonly shown: Pick<PresentedCall, 'summary' | 'preview'>;
  /** The data that came into the session. */
  readonly flow: SessionFlow;
}

/**
 * Explains what would happen to a call. It takes the real path up to its verdict: nothing runs, is asked or is
 * recorded. Fails as the call itself would.
 */
export async function explainCall(
  app: App,
  { tool, args, session }: { tool: string; args: unknown; session?: string },
): Promise<Result<ExplainedCall>> {
  const own = session === undefined ? {} : { sessionId: session };
  const context = new ExecutionContext({ ...app.context, ...own, dryRun: true });
  const reviewed = await app.executor.review(tool, context, args);
  if (!reviewed.ok) return reviewed;
  const { subject, shown } = reviewed.value;
  return ok({ ...app.policy.explain(subject), shown, flow: subject.flow ?? NO_FLOW });
}
