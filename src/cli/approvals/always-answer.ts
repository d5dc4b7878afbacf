import { answersIn } from '../../app/approvals/open-answers.ts';
import type { App } from '../../app/open-app.ts';
import type { AnswerOutcome, ApprovalAnswers } from '../../kernel/call/approval-answers.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';

/** The answer "always" to a stored question: the rules it would save, and the yes that saves them. */
export interface AlwaysAnswer {
  /** None where no rule is narrow enough, or the question is over. */
  rulesFor(id: string): Promise<readonly string[]>;
  /** Saves these rules and approves, both or neither. */
  save(id: string, rules: readonly string[]): Promise<AnswerOutcome>;
}

export function alwaysAnswer(ledger: Pick<Ledger, 'approval'>, answers: ApprovalAnswers): AlwaysAnswer {
  return {
    async rulesFor(id) {
      const approval = await ledger.approval(id);
      const proposed = approval === null ? undefined : await answers.proposal(approval);
      return proposed?.ok ? proposed.value.rules : [];
    },
    save: (id, rules) => answers.approve(id, 'terminal', { always: rules.join('\n') }),
  };
}

/** For a command with one open workspace; undefined before it is open. */
export function alwaysIn(app: App | undefined): AlwaysAnswer | undefined {
  return app && alwaysAnswer(app.store, answersIn(app));
}
