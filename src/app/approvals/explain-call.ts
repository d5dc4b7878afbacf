import type { PresentedCall } from '../../kernel/call/approval.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import { ok, type Result } from '../../kernel/result.ts';
import type { Explanation } from '../../policy/create-policy.ts';
import type { App } from '../open-app.ts';

/** The explanation of a verdict with the presentation that a person would see: summary, command, diff or page. */
export interface ExplainedCall extends Explanation {
  readonly shown: Pick<PresentedCall, 'summary' | 'preview'>;
}

/**
 * Explains what would happen to a call. It takes the real path up to its verdict: nothing runs, is asked or is
 * recorded. Fails as the call itself would.
 */
export async function explainCall(app: App, tool: string, args: unknown): Promise<Result<ExplainedCall>> {
  const reviewed = await app.executor.review(tool, new ExecutionContext({ ...app.context, dryRun: true }), args);
  if (!reviewed.ok) return reviewed;
  const { subject, shown } = reviewed.value;
  return ok({ ...app.policy.explain(subject), shown });
}
