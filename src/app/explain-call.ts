import { ExecutionContext } from '../kernel/execution-context.ts';
import type { Subject } from '../kernel/ports.ts';
import { ok, type Result } from '../kernel/result.ts';
import type { Explanation } from '../policy/create-policy.ts';
import { ToolExecutor } from '../runtime/executor.ts';
import type { App } from './open-app.ts';

/**
 * What would happen to a call, and why. The call goes the real way as far as its judgement, and that judgement is
 * written down and then a no: nothing runs, nobody is asked and nothing is recorded. Fails as the call itself would.
 */
export async function explainCall(app: App, tool: string, args: unknown): Promise<Result<Explanation>> {
  let explanation: Explanation | undefined;
  const policy = {
    decide(subject: Subject) {
      explanation = app.policy.explain(subject);
      return { verdict: 'deny' as const, rule: 'explain', reason: 'It is only explained.' };
    },
  };
  const { toolset } = app.loaded.config;
  const more = toolset === 'full' ? {} : { toolset };
  const judge = new ToolExecutor(app.registry, { policy, world: app.workspace, ...more });
  const result = await judge.execute(tool, new ExecutionContext({ ...app.context, dryRun: true }), args);
  if (explanation !== undefined) return ok(explanation);
  return { ok: false, error: result.error ?? { code: 'INTERNAL', message: 'It was not judged.' } };
}
