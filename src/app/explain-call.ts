import type { Shown } from '../kernel/approval.ts';
import { ExecutionContext } from '../kernel/call/execution-context.ts';
import { ok, type Result } from '../kernel/result.ts';
import type { Explanation } from '../policy/create-policy.ts';
import type { App } from './open-app.ts';

/** Why, and what a person would be shown if they were asked: the summary, and the command, difference or page as a whole. */
export interface ExplainedCall extends Explanation {
  readonly shown: Pick<Shown, 'summary' | 'preview'>;
}

/**
 * What would happen to a call, and why. The call goes the real way as far as its judgement: nothing runs, nobody is asked
 * and nothing is recorded. Fails as the call itself would.
 */
export async function explainCall(app: App, tool: string, args: unknown): Promise<Result<ExplainedCall>> {
  const reviewed = await app.executor.review(tool, new ExecutionContext({ ...app.context, dryRun: true }), args);
  if (!reviewed.ok) return reviewed;
  const { subject, shown } = reviewed.value;
  return ok({ ...app.policy.explain(subject), shown });
}
