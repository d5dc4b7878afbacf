import type { RuleProposal } from '../approval/answers.ts';
import { ExecutionContext } from '../kernel/execution-context.ts';
import type { App } from './open-app.ts';

/** What a rule is proposed for. */
export interface Proposable {
  readonly tool: string;
  readonly args: unknown;
  readonly session: string;
}

/** The narrowest rules that cover a call, as it would be judged now; null when none is safe enough, or none is needed. */
export async function proposeFor(
  app: App | undefined,
  { tool, args, session }: Proposable,
): Promise<RuleProposal | null> {
  if (app === undefined) return null;
  const { workingDir, timeout } = app.context;
  const context = new ExecutionContext({ workingDir, timeout, sessionId: session });
  const reviewed = await app.executor.review(tool, context, args);
  if (!reviewed.ok) return null;
  const proposed = app.rules.propose(reviewed.value.subject);
  if (!proposed.ok) return null;
  return { rules: proposed.value.map(({ rule }) => rule), covers: proposed.value.map(({ covers }) => covers) };
}
